// A host program for tests that kill it: runs one line and prints how it ended.
//   exec_runner HELPER FOLDER LINE [RECEIPTS ATTEMPT]
#include "exec/process.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    if (argc != 4 && argc != 6) return 2;
    assent::ShellRun run;
    run.helper = argv[1];
    run.folder = argv[2];
    run.line = argv[3];
    if (argc == 6) {
        run.receipts = argv[4];
        run.attempt = argv[5];
    }
    const auto end = assent::run_shell(run, {});
    std::fputs(end.ok() ? end->out.text().c_str() : end.failure().message.c_str(), stdout);
    return end.ok() ? 0 : 1;
}
