// Answers of the Messages API, streamed and whole.
//
// Thread-safety: none needed; one answer, one reader.
#pragma once

#include "model/service.hpp"
#include "model/wire_json.hpp"

#include <map>
#include <string>
#include <vector>

namespace assent::models {

class AnthropicReader final : public AnswerReader {
public:
    AnthropicReader(const ToolNames& names, OnText on_text) : names_(names), on_text_(std::move(on_text)) {}

    Reading event(const net::SseEvent& event) override;
    Reading whole(std::string_view body) override;

private:
    struct Block {
        std::string start;  ///< As the service began it.
        std::string type;
        JoinedText text;
        JoinedText thinking;
        JoinedText signature;
        JoinedText input;
        std::vector<std::string> citations;
        bool stopped = false;
    };

    Reading begin_block(const WireJson& json);
    Reading add_delta(const WireJson& json);
    Reading stop_block(const WireJson& json);
    Reading finish();
    Reading told_error(const WireJson& json);
    Block* open_block(const WireJson& json);
    void add_block(const WireJson& json, std::int64_t index, const JsonNode& content);
    void add_usage(const JsonNode* usage);
    void add_call(const Block& block);
    void set_stop(const std::string& reason);

    const ToolNames& names_;
    OnText on_text_;
    std::map<std::int64_t, Block> blocks_;
};

}  // namespace assent::models
