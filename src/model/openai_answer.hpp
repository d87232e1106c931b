// Answers of the Chat Completions API, streamed and whole.
//
// Thread-safety: none needed; one answer, one reader.
#pragma once

#include "model/service.hpp"
#include "model/wire_json.hpp"

#include <string>
#include <vector>

namespace assent::models {

class OpenaiReader final : public AnswerReader {
public:
    OpenaiReader(const ToolNames& names, OnText on_text) : names_(names), on_text_(std::move(on_text)) {}

    Reading event(const net::SseEvent& event) override;
    Reading whole(std::string_view body) override;

private:
    struct Call {
        std::int64_t index = 0;
        std::string id;
        bool has_id = false;
        JoinedText name;
        JoinedText arguments;
    };

    Reading told_error(std::string_view body);
    Reading finish();
    /// The choice with index 0, or null.
    static const JsonNode* first_choice(const WireJson& json);
    void add_texts(const WireJson& json, const JsonNode* message);
    void add_piece(const WireJson& json, const JsonNode& piece, Call& call);
    Call& call_of(const WireJson& json, const JsonNode& piece);
    void add_usage(const JsonNode* usage);

    const ToolNames& names_;
    OnText on_text_;
    JoinedText text_;
    JoinedText refusal_;
    std::vector<Call> calls_;  // by index
};

}  // namespace assent::models
