// Counters and gauges for operators, served over HTTP as Prometheus text at /metrics.
//
// No label and no name holds what came from a model, a tool or a person: all values of labels are words of Assent's
// own.
//
// Thread-safety: all members may be called from several threads.
#pragma once

#include "watch/watched_store.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace assent::watch {

struct MetricsOptions {
    /// Where to listen: "IP:PORT", "[IP6]:PORT", "localhost:PORT" or ":PORT" on 127.0.0.1; port 0: a free one.
    std::string address;
    std::string version;  ///< Of the program.
    /// Asked what is open when somebody looks, once a second at most; all times are by its clock. Must outlive this.
    Checkpointer* store = nullptr;
    std::int64_t threads_max = 0;  ///< How many threads are run at once.
};

class Metrics final : public Watcher {
public:
    /// Listens from now on. Failure kind `usage`: no such address, or it is in use.
    static Result<std::unique_ptr<Metrics>> open(const MetricsOptions& options);
    ~Metrics() override;

    /// Where it listens, with the port that was found: "127.0.0.1:9464".
    [[nodiscard]] const std::string& address() const noexcept;

    void run_began();
    /// `result`: done, waiting, failed, aborted, given_back or leased.
    void run_ended(std::string_view result);

    void happened(const Happening& happening) override;
    void appended(AppendStatus status, std::int64_t milliseconds) override;
    void failed(std::string_view operation, const Failure& failure) override;

private:
    class Served;
    explicit Metrics(std::unique_ptr<Served> served);
    std::unique_ptr<Served> served_;
};

/// `address` as the address of one socket, "IP:PORT" or "[IP6]:PORT". Failure kind `usage`.
Result<std::string> listening_address(const std::string& address);

}  // namespace assent::watch
