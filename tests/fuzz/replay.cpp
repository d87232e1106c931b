// Runs a fuzz target once over nothing and over each file of a folder, without a fuzzer: what was found
// stays mended.
//
//   fuzz_TARGET FOLDER
#include "fuzz/fuzz.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace {

int replay(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    std::ranges::sort(files);
    (void)LLVMFuzzerTestOneInput(nullptr, 0);
    for (const auto& file : files) {
        // So that the last line names the input, however the process ends.
        std::printf("%s\n", file.filename().c_str());
        std::fflush(stdout);
        std::ifstream stream(file, std::ios::binary);
        std::ostringstream bytes;
        if (!stream || !(bytes << stream.rdbuf())) {
            std::fprintf(stderr, "fuzz: %s cannot be read, or is empty\n", file.c_str());
            return 1;
        }
        const auto text = std::move(bytes).str();
        (void)LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc == 2) return replay(argv[1]);
        std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "fuzz: %s\n", problem.what());
    }
    return 2;
}
