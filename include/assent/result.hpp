// A value or the reason why the world did not give one.
//
// Used for what the store, the model service or the system may refuse. Ordinary answers of the
// domain (denied, expired, conflict) are enumerators in returned values; misuse throws.
//
// Thread-safety: plain values. Errors: `value()` on a failure throws std::logic_error.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace assent {

/// What kind of thing went wrong. Sent over the wire by name: never rename.
enum class FailureKind {
    usage,            ///< The request itself is wrong.
    not_found,        ///< No approval or call has this id.
    ambiguous,        ///< Several open approvals have this id.
    conflict,         ///< Somebody decided otherwise before.
    expired,          ///< The deadline of the approval has passed.
    refused,          ///< The answer is not acceptable; the approval stays open.
    unknown_thread,   ///< No thread has this id.
    no_checkpointer,  ///< Resuming needs a checkpointer.
    waiting,          ///< The thread waits for people.
    leased,           ///< Another live process runs the thread.
    database,         ///< The store failed.
    model,            ///< The model service failed.
    tool,             ///< A tool or its workspace cannot be used.
    policy,           ///< A guard failed.
    internal,         ///< A defect of Assent.
};

/// The wire name of `kind`, such as "not_found".
[[nodiscard]] std::string_view to_string(FailureKind kind) noexcept;

/// Why something failed: one line, lower case, what happened and what to do next.
struct Failure {
    FailureKind kind = FailureKind::internal;
    std::string message;

    bool operator==(const Failure&) const = default;
};

/// Thrown when an object is built from settings that cannot be safe or cannot work.
class ConfigError : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// A `T`, or a `Failure`. A dropped result is a compiler warning.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

    [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] T& value() & {
        require();
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] const T& value() const& {
        require();
        return *std::get_if<0>(&state_);
    }
    /// By value: `for (auto& item : *store.threads())` must not look into a result that is gone.
    [[nodiscard]] T value() && {
        require();
        return std::move(*std::get_if<0>(&state_));
    }
    [[nodiscard]] T* operator->() { return &value(); }
    [[nodiscard]] const T* operator->() const { return &value(); }
    [[nodiscard]] T& operator*() & { return value(); }
    [[nodiscard]] const T& operator*() const& { return value(); }
    [[nodiscard]] T operator*() && { return std::move(*this).value(); }

    /// The failure. Throws std::logic_error if there is none.
    [[nodiscard]] const Failure& failure() const {
        if (ok()) throw std::logic_error("result has no failure");
        return *std::get_if<1>(&state_);
    }

private:
    void require() const {
        if (!ok()) throw std::logic_error("result has no value: " + failure().message);
    }
    std::variant<T, Failure> state_;
};

/// Success without a value, or a `Failure`.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Failure failure) : failure_(std::in_place_index<1>, std::move(failure)) {}

    [[nodiscard]] bool ok() const noexcept { return failure_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }
    [[nodiscard]] const Failure& failure() const {
        if (ok()) throw std::logic_error("result has no failure");
        return *std::get_if<1>(&failure_);
    }

private:
    std::variant<std::monostate, Failure> failure_;
};

}  // namespace assent
