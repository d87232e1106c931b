// One approval as a person reads it before deciding.
//
// The head holds only what Assent and the operator know; what a model wrote stands below, marked,
// whole, and in a form that cannot be taken for the rest.
#pragma once

#include "cli/terminal.hpp"

#include <assent/approval.hpp>
#include <assent/arguments.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace assent::cli {

struct ViewOptions {
    bool full = false;      ///< Also the whole digest, all unchanged lines and the exact texts.
    UnixMillis now = 0;     ///< For distances in time; 0: none are told.
    std::size_t width = 0;  ///< Columns of the screen, to warn of longer lines; 0: no warning.
};

/// Lines, each with its line feed.
[[nodiscard]] std::string call_view(const Approval& approval, const Terminal& terminal,
                                    const ViewOptions& options = {});

/// What changes from one set of arguments to the other, argument by argument; empty if nothing does.
[[nodiscard]] std::string arguments_diff(const Arguments& before, const Arguments& after, const Terminal& terminal);

/// `text` behind the gutter of the views, in full.
[[nodiscard]] std::string foreign_block(std::string_view text, const Terminal& terminal);

/// What a person may answer to it, by name, in the order in which it is offered.
[[nodiscard]] std::vector<std::string> answers_to(const Approval& approval);

}  // namespace assent::cli
