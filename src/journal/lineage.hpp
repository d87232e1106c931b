// Threads that do a call of another thread: their ids say whose, so nothing else has to be stored of it.
#pragma once

#include "journal/events.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assent::journal {

/// The id of the thread that does this call of `parent`: PARENT/TURN.POSITION.
[[nodiscard]] std::string child_id(const std::string& parent, const CallRef& call);

/// What an id says if it has the form of a child's.
struct ChildOf {
    std::string parent;
    CallRef call;
    bool operator==(const ChildOf&) const = default;
};
[[nodiscard]] std::optional<ChildOf> child_of(std::string_view id);

/// The threads above, root first. Empty: the thread works for nobody.
[[nodiscard]] std::vector<std::string> ancestors_of(std::string_view id);

/// The first of those, or the thread itself.
[[nodiscard]] std::string root_of(std::string_view id);

/// The call of `thread` that the thread `id` works for, at whatever depth. Nothing if it does not.
[[nodiscard]] std::optional<CallRef> call_behind(std::string_view id, std::string_view thread);

}  // namespace assent::journal
