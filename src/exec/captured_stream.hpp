// What a process wrote, its beginning and its end when there is too much.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assent {

class CapturedStream {
public:
    explicit CapturedStream(std::size_t bytes_max = 0)
        : head_max_(bytes_max / 2), tail_max_(bytes_max - bytes_max / 2) {}

    void add(std::string_view bytes);

    [[nodiscard]] bool empty() const noexcept { return total_ == 0; }
    /// How many bytes in the middle were not kept.
    [[nodiscard]] std::uint64_t cut_bytes() const noexcept;
    /// Well-formed UTF-8: bytes that are none are written \xNN. A cut is stated in its place.
    [[nodiscard]] std::string text() const;

private:
    std::size_t head_max_;
    std::size_t tail_max_;
    std::uint64_t total_ = 0;
    std::string head_;
    std::string tail_;  // up to twice its limit, so that it is not moved with each piece
};

}  // namespace assent
