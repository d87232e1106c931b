// An array as a parameter, in the form in which the server itself sends and takes it: bytes stand in it as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assent::postgres {

/// Its members are of one type, or null: which function may be called follows from `type`.
class BinaryArray {
public:
    /// The types of PostgreSQL, by their numbers.
    enum class Of : std::uint32_t { boolean = 16, bytea = 17, bigint = 20, text = 25 };

    explicit BinaryArray(Of type) : type_(type) {}
    void add_null();
    void add_integer(std::int64_t value);
    void add_boolean(bool value);
    /// A text, which is checked (Error), or bytes.
    void add(std::string_view value);
    void add(std::optional<std::int64_t> value) { value ? add_integer(*value) : add_null(); }

    [[nodiscard]] Of type() const noexcept { return type_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::string bytes() const;

private:
    Of type_;
    std::uint32_t count_ = 0;
    bool has_null_ = false;
    std::string members_;
};

}  // namespace assent::postgres
