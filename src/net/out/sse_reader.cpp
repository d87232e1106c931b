#include "net/out/sse_reader.hpp"

namespace assent::net {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

SseReader::State SseReader::feed(std::string_view bytes, const OnEvent& on_event) {
    while (state_ == State::more && !bytes.empty()) {
        if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
        after_cr_ = false;
        const auto end = bytes.find_first_of("\r\n");
        line_ += bytes.substr(0, end);
        if (line_.size() + event_.data.size() + event_.event.size() > event_bytes_max_) {
            state_ = State::too_large;
            break;
        }
        if (end == std::string_view::npos) break;
        after_cr_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        if (first_line_ && line_.starts_with(byte_order_mark)) line_.erase(0, byte_order_mark.size());
        first_line_ = false;
        if (line_.empty()) {
            end_event(on_event);
        } else {
            take_line();
        }
        line_.clear();
    }
    return state_;
}

void SseReader::take_line() {
    const std::string_view line = line_;
    const auto colon = line.find(':');
    const auto field = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "data") {
        if (has_data_) event_.data += '\n';
        event_.data += value;
        has_data_ = true;
    } else if (field == "event") {
        event_.event = value;
    }
}

void SseReader::end_event(const OnEvent& on_event) {
    const bool is_event = has_data_;
    const SseEvent event = std::move(event_);
    event_ = {};
    has_data_ = false;
    if (is_event && !on_event(event)) state_ = State::ended;
}

}  // namespace assent::net
