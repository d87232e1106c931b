// A command of the operator's that is told what is asked and answered: a mail, a chat message, a bell.
//
// Thread-safety: one thread at a time.
#pragma once

#include "cli/terminal.hpp"

#include <assent/approval.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace assent::cli {

class Notifier {
public:
    /// An empty command tells nobody.
    Notifier(const Terminal& terminal, std::string command) : terminal_(terminal), command_(std::move(command)) {}
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;
    /// Waits for the commands that still run, a few seconds at most.
    ~Notifier();

    /// Starts the command and does not wait for it. `event`: asked or answered, in its variable ASSENT_EVENT; the
    /// approval's JSON is its input. What it prints goes to standard error.
    void tell(std::string_view event, const Approval& approval);

private:
    void collect();

    const Terminal& terminal_;
    std::string command_;
    std::vector<int> running_;  // process ids
};

}  // namespace assent::cli
