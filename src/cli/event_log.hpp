// The log of a long-running command: one JSON object a line on standard error.
//
// What stands in a line is named here one by one. Arguments, texts of people, models and tools, and reasons of guards
// are not among it.
#pragma once

#include "cli/json_out.hpp"
#include "cli/terminal.hpp"
#include "watch/watched_store.hpp"

#include <string_view>

namespace assent::cli {

enum class LogLevel { info, warning, error };

/// The beginning of a line: time, level and event.
[[nodiscard]] JsonObject log_line(LogLevel level, std::string_view event);

/// Tells what happens in the journals of a watched store. Calls that only prepare something are left out.
///
/// Thread-safety: all members may be called from several threads; a line is written at once.
class EventLog final : public watch::Watcher {
public:
    explicit EventLog(const Terminal& terminal) : terminal_(terminal) {}

    void happened(const watch::Happening& happening) override;
    void appended(AppendStatus /*status*/, std::int64_t /*milliseconds*/) override {}
    void failed(std::string_view operation, const Failure& failure) override;

private:
    const Terminal& terminal_;
};

}  // namespace assent::cli
