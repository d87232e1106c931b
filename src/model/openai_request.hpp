// Requests of the Chat Completions API.
//
// Thread-safety: functions without state.
#pragma once

#include "model/conversation.hpp"

#include <assent/model.hpp>

#include <string>

namespace assent::models {

struct OpenaiRequest {
    std::string model;
    int max_tokens = 0;           ///< 0: not said.
    std::string max_tokens_name;  ///< What the server calls it.
    bool streaming = true;
    std::string more;  ///< Further members, see more_members.
};

[[nodiscard]] std::string write_openai(const OpenaiRequest& settings, const ServiceRequest& request,
                                       const ToolNames& names);

}  // namespace assent::models
