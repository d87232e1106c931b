// Tools without a body: the model asks people something, and their answer is the call's result.
//
// Nothing runs, and nobody is needed to go on but the person. The question waits like any approval, is shown and
// answered in the same places, and has the kind `ask` or `confirm`. Other guards judge such calls too.
#pragma once

#include <assent/timeout.hpp>
#include <assent/tool.hpp>

#include <memory>

namespace assent {

/// `ask_user {questions: [{key, prompt, options: [{label, value, description, allow_input}], multi_select,
/// required}]}`. Without options an answer is a free text. The answer is checked against the questions before it
/// counts. Result: `User answers:` and the answers as JSON; `details.hitl.answers` holds them too.
/// `timeout`: how long a call may wait; not said: as the agent's other questions.
[[nodiscard]] std::shared_ptr<Tool> ask_user_tool(Timeout timeout = {});

/// `confirm {prompt, details}`. Result: `yes` or `no`; `details.hitl.answer` is true or false.
[[nodiscard]] std::shared_ptr<Tool> confirm_tool(Timeout timeout = {});

}  // namespace assent
