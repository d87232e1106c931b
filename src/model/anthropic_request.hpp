// Requests of the Messages API.
//
// Thread-safety: functions without state.
#pragma once

#include "model/conversation.hpp"

#include <assent/model.hpp>

#include <string>
#include <vector>

namespace assent::models {

struct AnthropicRequest {
    std::string model;
    int max_tokens = 0;
    bool streaming = true;
    std::string more;  ///< Further members, see more_members.
};

/// `paused`: the content of an answer that the service is to go on with.
[[nodiscard]] std::string write_anthropic(const AnthropicRequest& settings, const ServiceRequest& request,
                                          const ToolNames& names, const std::vector<std::string>& paused);

/// The blocks of an answer as they are recorded; empty when text and calls say as much. Their calls stand
/// there without arguments, which are recorded beside them.
[[nodiscard]] std::string record_anthropic(const std::vector<std::string>& blocks);

/// `block` with one member replaced or added, every other byte as it was.
[[nodiscard]] std::string with_member(const std::string& block, const std::string& key, const std::string& value);

}  // namespace assent::models
