// Forks and joins: a walk over the operations with a vector clock for each stream. A stream's clock counts,
// for every stream, the operations that finish before its own next operation begins.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "plan/checks.hpp"

namespace kernelsmith::plan {
namespace {

using Clock = std::array<std::uint32_t, kMaxStreams>;

struct Stream {
  bool forked = false;   ///< from stream 0, directly or through others
  std::size_t last = 0;  ///< index of its last operation
  Clock clock{};         ///< its own entry counts its operations
};

class Walk {
 public:
  Walk() { streams_[0].forked = true; }

  Status step(const Operation& operation, std::size_t index);
  Status finish() const;

 private:
  Status wait(std::uint32_t stream, const EventWait& wait);

  std::array<Stream, kMaxStreams> streams_{};
  std::map<std::uint32_t, Clock> events_;  ///< the last record of each
};

Status Walk::wait(std::uint32_t stream, const EventWait& wait) {
  const auto event = events_.find(wait.event);
  if (event == events_.end())
    return refuse("cudaStreamWaitEvent for event " + std::to_string(wait.event) +
                      ", which this call has not recorded before",
                  "Call cudaEventRecord on the event first, in the same call of the entry");
  Stream& waiter = streams_[stream];
  waiter.forked = true;
  for (std::size_t i = 0; i < kMaxStreams; ++i) waiter.clock[i] = std::max(waiter.clock[i], event->second[i]);
  return {};
}

Status Walk::step(const Operation& operation, std::size_t index) {
  Stream& stream = streams_[operation.stream];
  if (const auto* what = std::get_if<EventWait>(&operation.what))
    if (Status status = wait(operation.stream, *what); !status) return status;
  if (!stream.forked)
    return refuse(
        "stream " + std::to_string(operation.stream) + " is used before it waits for the call's own stream",
        "Record an event on the stream that the entry was given, and call cudaStreamWaitEvent on the "
        "other stream first; or use the given stream or a default one");
  if (const auto* record = std::get_if<EventRecord>(&operation.what)) {
    events_[record->event] = stream.clock;
    return {};
  }
  ++stream.clock[operation.stream];
  stream.last = index;
  return {};
}

Status Walk::finish() const {
  for (std::size_t i = 1; i < kMaxStreams; ++i) {
    if (streams_[0].clock[i] == streams_[i].clock[i]) continue;
    Error error = refuse(
        "stream " + std::to_string(i) + " is not joined: its last operation may still run when the call ends",
        "At the end record an event on it, and call cudaStreamWaitEvent on the stream that the "
        "entry was given");
    error.where = operation_name(streams_[i].last);
    return error;
  }
  return {};
}

/// Checks that numbers are within the limits, which are the sizes of the walk's tables.
Status check_numbers(const Operation& operation) {
  if (operation.stream >= kMaxStreams)
    return refuse("stream " + std::to_string(operation.stream) + "; a call has at most " +
                      std::to_string(kMaxStreams) + " streams",
                  "Use fewer streams, and create them once");
  const auto event = std::visit(
      [](const auto& what) -> std::uint32_t {
        if constexpr (requires { what.event; }) return what.event;
        return 0;
      },
      operation.what);
  if (event >= kMaxEvents)
    return refuse(
        "event " + std::to_string(event) + "; a call has at most " + std::to_string(kMaxEvents) + " events",
        "Use fewer events, and create them once");
  return {};
}

}  // namespace

Status check_streams(std::span<const Operation> operations) {
  Walk walk;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Status status = check_numbers(operations[i]);
    if (status) status = walk.step(operations[i], i);
    if (status) continue;
    Error error = status.error();
    error.where = operation_name(i);
    return error;
  }
  return walk.finish();
}

}  // namespace kernelsmith::plan
