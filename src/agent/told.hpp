// What the listener was told since the last prompt; kept by the agent from one resume to the next.
#pragma once

#include <assent/gate.hpp>
#include <assent/hitl.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace assent {

struct Told {
    std::vector<CallReport> ended;
    std::vector<std::string> questions;
    std::vector<HitlRequest> requests;                      ///< Told to the listener of a channel and not over yet.
    std::map<std::string, std::unique_ptr<Told>> children;  ///< By thread.

    /// Of a child thread.
    [[nodiscard]] Told& of(const std::string& child) {
        auto& told = children[child];
        if (told == nullptr) told = std::make_unique<Told>();
        return *told;
    }
};

}  // namespace assent
