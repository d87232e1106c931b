#include "conformance/folder.hpp"

#include "conformance/case.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace assent::conformance {
namespace {

namespace fs = std::filesystem;

constexpr JsonLimits file_limits{.bytes_max = 1024UL * 1024 * 1024, .depth_max = 1000};

struct FileKind {
    const char* name;
    void (*run)(const JsonNode&);  // null: not built yet
};

constexpr FileKind file_kinds[] = {
    {"predicates.json", run_predicate_case},
    {"interrupt_ids.json", run_interrupt_id_case},
    {"tool_decisions.json", run_tool_decision_case},
    {"regex.json", run_regex_case},
    {"approval_outcomes.json", run_approval_outcome_case},
    {"decisions.json", run_decision_case},
    {"paths.json", run_path_case},
};

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path.string() + " cannot be read");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

bool passed_over(const fs::path& path) {
    return path.filename() == "README.md" || path.filename() == "skipped.md";
}

// How a case is called in the output and in the list of exceptions.
std::string place_of(const JsonNode& node, const std::string& text) {
    if (const auto* name = node.find("name"); name != nullptr && name->kind == JsonNode::Kind::string) {
        return name->string;
    }
    const auto before = node.text.data() - text.data();
    return std::to_string(1 + std::count(text.begin(), text.begin() + before, '\n'));
}

class Folder {
public:
    Folder(const std::vector<Exception>& exceptions, std::ostream& out) : exceptions_(exceptions), out_(out) {}

    int run(const fs::path& folder) {
        for (const auto& kind : file_kinds) {
            if (fs::exists(folder / kind.name)) run_file(kind, folder / kind.name);
        }
        if (fs::is_directory(folder / "policy")) count_policies(folder / "policy");
        for (const auto& entry : fs::directory_iterator(folder)) {
            const auto name = entry.path().filename().string();
            const auto known = std::ranges::any_of(file_kinds, [&](const auto& kind) { return name == kind.name; });
            if (!known && !passed_over(entry.path()) && !(name == "policy" && entry.is_directory())) unknown(name);
        }
        return good_ ? 0 : 1;
    }

private:
    void unknown(const std::string& name) {
        out_ << name << ": no file of cases has this name\n";
        good_ = false;
    }

    const Exception* exception_for(const std::string& file, const std::string& place) const {
        const auto found =
            std::ranges::find_if(exceptions_, [&](const auto& row) { return row.file == file && row.where == place; });
        return found == exceptions_.end() ? nullptr : &*found;
    }

    void run_file(const FileKind& kind, const fs::path& path) {
        const auto json = JsonText::parse(read_file(path), file_limits);
        if (!json || json->root().kind != JsonNode::Kind::array) {
            out_ << kind.name << ": " << (json ? "no list of cases" : json.failure().message) << '\n';
            good_ = false;
            return;
        }
        const auto& cases = json->root().items;
        if (kind.run == nullptr) {
            out_ << kind.name << ": " << cases.size() << " not yet\n";
            return;
        }
        run_cases(kind, cases, json->text());
    }

    void run_cases(const FileKind& kind, const std::vector<JsonNode>& cases, const std::string& text) {
        std::size_t passed = 0;
        std::size_t failed = 0;
        std::size_t excepted = 0;
        for (const auto& node : cases) {
            const auto place = place_of(node, text);
            const auto* exception = exception_for(kind.name, place);
            try {
                kind.run(node);
                ++passed;
            } catch (const std::exception& problem) {
                if (exception != nullptr) {
                    ++excepted;
                    out_ << "  " << kind.name << ':' << place << ": excepted: " << exception->reason << '\n';
                } else {
                    ++failed;
                    out_ << "  " << kind.name << ':' << place << ": " << problem.what() << '\n';
                }
            }
        }
        out_ << kind.name << ": " << passed << " passed, " << failed << " failed\n";
        if (excepted * 100 > cases.size()) {
            out_ << kind.name << ": " << excepted << " exceptions are more than one in a hundred\n";
            good_ = false;
        }
        if (failed > 0) good_ = false;
    }

    void count_policies(const fs::path& folder) {
        std::size_t tests = 0;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.is_directory() || passed_over(entry.path())) continue;
            if (entry.path().extension() != ".toml") {
                unknown(fs::relative(entry.path(), folder.parent_path()).string());
                continue;
            }
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) tests += trimmed(line).starts_with("[[test]]") ? 1 : 0;
        }
        if (tests > 0) out_ << "policy: " << tests << " not yet\n";
    }

    const std::vector<Exception>& exceptions_;
    std::ostream& out_;
    bool good_ = true;
};

}  // namespace

std::vector<Exception> read_exceptions(const fs::path& file) {
    std::vector<Exception> rows;
    std::ifstream lines(file);
    if (!lines) throw std::runtime_error(file.string() + " cannot be read");
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.starts_with('#')) continue;
        const auto first = line.find('|');
        const auto second = first == std::string::npos ? first : line.find('|', first + 1);
        if (second == std::string::npos) throw std::runtime_error(file.string() + ": this is no exception: " + line);
        rows.push_back({trimmed(std::string_view(line).substr(0, first)),
                        trimmed(std::string_view(line).substr(first + 1, second - first - 1)),
                        trimmed(std::string_view(line).substr(second + 1))});
        if (rows.back().reason.empty()) throw std::runtime_error(file.string() + ": no reason is given: " + line);
    }
    return rows;
}

int run_folder(const fs::path& folder, const std::vector<Exception>& exceptions, std::ostream& out) {
    if (!fs::is_directory(folder)) {
        out << folder.string() << " is no folder\n";
        return 2;
    }
    return Folder(exceptions, out).run(folder);
}

}  // namespace assent::conformance
