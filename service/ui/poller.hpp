// Poller: a thread that polls a page's data, answers requests about it, and notifies connected browsers of
// changes.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/service/http_message.hpp>

namespace kernelsmith::ui {

/// The polling interval.
struct Cadence {
  std::chrono::milliseconds pause{1000};  ///< minimum between the end of a look and the next one
  unsigned rest = 3;  ///< the pause lasts this many looks or more: looks take at most a quarter of the time
};

/// Polls only while there are listeners or requests. Thread-safe.
class Poller {
 public:
  /// The summary if it has changed since the last call; empty if it has not. Called on the poller's thread,
  /// like every job.
  using Look = std::function<Result<std::optional<std::string>>()>;
  using Job = std::function<void()>;

  /// `first` is the summary to begin with.
  Poller(Look look, std::string first, Cadence cadence);

  /// Runs the job after the waiting ones.
  void post(Job job) { jobs_.post(std::move(job)); }

  /// Answers with the summary, after a look if one is due.
  void send_summary(http::Responder responder);

  /// Sends the event `summary` now and at every change, and `trouble` (an Error) when a look fails.
  void add_listener(http::EventStream stream);

 private:
  void work(const std::stop_token& stop);
  void look_if_due();
  void tell(const char* event, const std::string& data);

  const Look look_;
  const Cadence cadence_;

  // Only the poller's thread uses these.
  std::string summary_;
  std::optional<Error> trouble_;
  Moment next_look_ = Moment::min();
  std::vector<http::EventStream> listeners_;

  Mailbox<Job> jobs_;
  std::jthread thread_;  ///< last: it ends before the members that it uses
};

}  // namespace kernelsmith::ui
