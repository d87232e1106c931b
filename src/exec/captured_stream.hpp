// What a process wrote, its beginning and its end when there is too much.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace assent {

class CapturedStream {
public:
    CapturedStream() = default;
    explicit CapturedStream(std::size_t bytes_max) : head_max_(bytes_max / 2), tail_max_(bytes_max - bytes_max / 2) {}

    /// What another process kept of a stream of `total` bytes.
    CapturedStream(std::string head, std::string tail, std::uint64_t total)
        : head_max_(head.size()),
          tail_max_(tail.size()),
          total_(total),
          head_(std::move(head)),
          tail_(std::move(tail)) {}

    void add(std::string_view bytes);

    [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_; }
    [[nodiscard]] std::string_view head() const noexcept { return head_; }
    [[nodiscard]] std::string_view tail() const noexcept;

    [[nodiscard]] bool empty() const noexcept { return total_ == 0; }
    /// How many bytes in the middle were not kept.
    [[nodiscard]] std::uint64_t cut_bytes() const noexcept;
    /// Well-formed UTF-8: bytes that are none are written \xNN. A cut is stated in its place.
    [[nodiscard]] std::string text() const;

private:
    std::size_t head_max_ = 0;
    std::size_t tail_max_ = 0;
    std::uint64_t total_ = 0;
    std::string head_;
    std::string tail_;  // up to twice its limit, so that it is not moved with each piece
};

}  // namespace assent
