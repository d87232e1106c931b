#include <assent/worker.hpp>

#include "agent/workload.hpp"

namespace assent {

Worker::Worker(WorkerOptions options) : options_(std::move(options)) {
    if (options_.store == nullptr) throw ConfigError("a worker needs a store");
    if (!options_.agent) throw ConfigError("a worker needs to know the agents of its threads");
    if (options_.threads_max == 0) throw ConfigError("a worker has to run at least one thread at once");
    if (options_.clock == nullptr) options_.clock = &options_.store->clock();
}

void Worker::run(const std::stop_token& stop) {
    Workload(options_).run(stop, Workload::Until::stopped);
}

void Worker::run_until_idle(const std::stop_token& stop) {
    Workload(options_).run(stop, Workload::Until::idle);
}

}  // namespace assent
