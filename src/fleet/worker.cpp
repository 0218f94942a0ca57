// run_worker: joins the fleet, announces what it offers, and serves its backends until a stop request.
#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/fleet/worker.hpp>

#include "backend_service.hpp"
#include "bus.hpp"
#include "messages.hpp"
#include "names.hpp"
#include "roster.hpp"

namespace kernelsmith {
namespace fleet {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr milliseconds kRenewalCheck = 200ms;

/// The worker's name with random numbers, because two workers may have the same name.
std::string random_id(const std::string& name) {
  std::random_device random;
  return token(name).substr(0, 32) + "-" + std::to_string(random()) + std::to_string(random());
}

/// Announces to the fleet, repeatedly, what this worker offers. Withdraws the announcement at the end.
class Announcer {
 public:
  Announcer(Bus& bus, const WorkerOptions& options,
            const std::vector<std::unique_ptr<BackendService>>& services)
      : bus_(bus),
        options_(options),
        services_(services),
        subject_(worker_subject(random_id(options.name))) {}

  /// Makes the first announcement; a thread repeats it.
  Status begin(const std::stop_token& stop) {
    if (Status told = announce(stop); !told) return told;
    connections_ = bus_.connections();
    streams_lost_ = bus_.streams_lost();
    next_ = steady_clock::now() + options_.announce_every;
    repeater_.emplace(kRenewalCheck, [this](const std::stop_token& ended) { repeat(ended); });
    return {};
  }

  void changed() { due_ = true; }

  /// Withdraws the announcement, so that no run relies on this worker.
  void end() {
    if (!repeater_) return;
    repeater_.reset();
    bus_.remove(kWorkersStream, subject_);
  }

 private:
  Status announce(const std::stop_token& stop) {
    WorkerEntry entry{options_.name, KERNELSMITH_VERSION, {}};
    for (const auto& service : services_)
      if (!service->rests()) entry.offers.push_back(service->offer());
    const auto put = bus_.put({kWorkersStream, subject_, encode_worker(entry), "", false}, stop);
    return put ? Status() : Status(put.error());
  }

  void repeat(const std::stop_token& stop) {
    if (bus_.away_for().count() > 0) return tell_away();
    told_away_.clear();
    const std::uint64_t connections = bus_.connections();
    const bool again = std::exchange(connections_, connections) != connections;
    if (again) join_again(stop);
    const std::uint64_t streams_lost = bus_.streams_lost();
    const bool lost = std::exchange(streams_lost_, streams_lost) != streams_lost;
    if (lost)
      tell(Notice::Level::warning, "the server had lost streams of the fleet, which have been made again");
    if (!due_.exchange(false) && !again && !lost && steady_clock::now() < next_) return;
    next_ = steady_clock::now() + options_.announce_every;
    declare_queues(stop);
    if (const Status told = announce(stop); !told && !stop.stop_requested())
      tell(Notice::Level::warning, "this worker cannot announce itself to runs: " + describe(told.error()));
  }

  void tell_away() {
    const auto why = bus_.refusal();
    const std::string text = "the server is away" + (why ? "; " + why->message : "");
    if (std::exchange(told_away_, text) != text) tell(Notice::Level::warning, text);
  }

  /// Joins the fleet again, because a server that lost its disk has neither streams nor queues.
  void join_again(const std::stop_token& stop) {
    if (const Status joined = join_fleet(bus_, stop); joined)
      tell(Notice::Level::info, "the server is back");
    else
      tell(Notice::Level::warning, "the server is back, but: " + describe(joined.error()));
  }

  /// Makes the queues again if they were deleted: to readers, a deleted queue looks like an empty one.
  void declare_queues(const std::stop_token& stop) const {
    for (const auto& service : services_) {
      const auto declared = service->declare_queue(stop);
      if (!declared && !stop.stop_requested())
        tell(Notice::Level::warning, "this worker cannot take jobs: " + describe(declared.error()));
    }
  }

  void tell(Notice::Level level, const std::string& text) const {
    if (options_.tell) options_.tell({level, text});
  }

  Bus& bus_;
  const WorkerOptions& options_;
  const std::vector<std::unique_ptr<BackendService>>& services_;
  const std::string subject_;
  std::atomic<bool> due_ = false;  ///< whether the offer has changed

  // The repeater uses these.
  std::uint64_t connections_ = 0, streams_lost_ = 0;
  std::string told_away_;  ///< the latest report of the server's absence
  Moment next_{};

  std::optional<Repeater> repeater_;  ///< comes last, because it uses all members above
};

}  // namespace
}  // namespace fleet

Result<WorkerSummary> run_worker(const WorkerOptions& options, const std::stop_token& stop) {
  using namespace fleet;
  if (options.backends.empty()) return fail(ErrorCode::invalid_argument, "a worker needs a backend to offer");
  const auto connect_within = [&](milliseconds first_patience) {
    return connect({.server = options.server,
                    .name = "kernelsmith worker " + options.name,
                    .patience = options.patience,
                    .first_patience = first_patience,
                    .tell =
                        [&options](const std::string& text) {
                          if (options.tell) options.tell({Notice::Level::warning, text});
                        }},
                   stop);
  };
  auto connected = connect_within(0ms);
  if (!connected && connected.error().code == ErrorCode::network) {
    if (options.tell) options.tell({Notice::Level::info, "waiting for the server at " + options.server.url});
    connected = connect_within(options.patience);
  }
  if (!connected) return connected.error();
  Bus& bus = **connected;
  if (const Status joined = join_fleet(bus, stop); !joined) return joined.error();

  WorkCounts counts;
  std::vector<std::unique_ptr<BackendService>> services;
  Announcer announcer(bus, options, services);
  for (const WorkerBackend& backend : options.backends)
    services.push_back(std::make_unique<BackendService>(bus, options, backend, counts,
                                                        [&announcer] { announcer.changed(); }));
  // Stops the started services if another one fails to start.
  std::stop_source ended;
  const std::stop_callback end_with(stop, [&ended] { ended.request_stop(); });
  Status begun;
  for (const auto& service : services)
    if (begun) begun = service->begin(ended.get_token());
  if (begun) begun = announcer.begin(stop);
  if (begun) {
    if (options.tell) options.tell({Notice::Level::info, "joined the fleet at " + options.server.url});
    wait_for_stop(stop);
  }
  ended.request_stop();
  announcer.end();
  for (const auto& service : services) service->finish();
  if (!begun && begun.error().code != ErrorCode::cancelled) return begun.error();
  return WorkerSummary{counts.evaluated, counts.failed, counts.given_up};
}

}  // namespace kernelsmith
