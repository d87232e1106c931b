#include "store/postgres/binary_array.hpp"

#include "store/postgres/connection.hpp"

#include <array>

namespace assent::postgres {
namespace {

// The highest byte first.
template <std::size_t N>
void put(std::string& out, std::uint64_t value) {
    for (std::size_t i = N; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xff);
}

void put_32(std::string& out, std::uint32_t value) {
    put<4>(out, value);
}

}  // namespace

void BinaryArray::add_null() {
    constexpr std::uint32_t no_length = 0xffffffff;
    put_32(members_, no_length);
    has_null_ = true;
    ++count_;
}

void BinaryArray::add_integer(std::int64_t value) {
    constexpr std::size_t size = sizeof value;
    put_32(members_, size);
    put<size>(members_, static_cast<std::uint64_t>(value));
    ++count_;
}

void BinaryArray::add_boolean(bool value) {
    put_32(members_, 1);
    members_ += value ? '\1' : '\0';
    ++count_;
}

void BinaryArray::add(std::string_view value) {
    if (type_ == Of::text) check_text(value);
    put_32(members_, static_cast<std::uint32_t>(value.size()));
    members_ += value;
    ++count_;
}

std::string BinaryArray::bytes() const {
    constexpr std::uint32_t dimensions = 1;
    constexpr std::uint32_t first_index = 1;
    std::string out;
    constexpr std::size_t head = 20;
    out.reserve(head + members_.size());
    put_32(out, dimensions);
    put_32(out, has_null_ ? 1 : 0);
    put_32(out, static_cast<std::uint32_t>(type_));
    put_32(out, count_);
    put_32(out, first_index);
    return out + members_;
}

}  // namespace assent::postgres
