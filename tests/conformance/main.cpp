// assent-conformance DIR: runs the files of cases in DIR that it knows by their names and prints one
// line for each. Exit status: 0 all passed, 1 a case failed or a file is not known, 2 no such folder.
#include "conformance/folder.hpp"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: assent-conformance DIR\n";
        return 2;
    }
    try {
        const auto exceptions = assent::conformance::read_exceptions(ASSENT_CONFORMANCE_EXCEPTIONS);
        return assent::conformance::run_folder(argv[1], exceptions, std::cout);
    } catch (const std::exception& problem) {
        std::cerr << "assent-conformance: " << problem.what() << '\n';
        return 1;
    }
}
