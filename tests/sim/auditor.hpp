// Compares what is stored with what happened. Knows the rows, the ledger and the rules, nothing else.
#pragma once

#include "sim/thread_audit.hpp"
#include "sim/world.hpp"

#include <string>
#include <vector>

namespace assent::sim {

class Auditor {
public:
    explicit Auditor(World& world) : world_(world) {}

    /// Adds to the ledger what did not hold.
    void audit();
    /// How many of each kind the journals hold.
    [[nodiscard]] const std::map<std::string_view, std::int64_t>& events() const noexcept { return events_; }

private:
    void audit_thread(const std::string& thread);
    void audit_effects();
    void audit_recorded();
    void audit_told();
    void audit_doubts();
    void audit_conversation(const std::string& thread, const ThreadAudit& audit);
    void check_told(const Told& told, const Question& question);
    void check_counted(const Told& told, const Question& question);
    [[nodiscard]] const Question* question(std::int64_t number) const;
    [[nodiscard]] const AttemptAudit* attempt(const std::string& id) const;

    World& world_;
    std::map<std::string, ThreadAudit> threads_;
    std::map<std::string_view, std::int64_t> events_;
    std::size_t rows_ = 0;
    std::set<std::int64_t> counted_;  ///< Questions whose answerer was told that it counts.
};

}  // namespace assent::sim
