// The inbox of run(): answers are posted from any thread and taken by the one that runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <variant>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith {

/// An attempt that gave no answer, whose call may go on.
struct LostAttempt {
  TicketId ticket;
  Cost cost;
};

/// What a proposer asks to have evaluated before it answers.
struct AskedTrial {
  Trial trial;
  std::function<void(Result<Tried>)> done;
};

/// What came of one request, which its number names: its answer, or news before that.
struct Delivery {
  std::uint64_t request = 0;
  std::variant<Result<Proposal>, Result<Evaluation>, LostAttempt, AskedTrial> content;
};

/// What whoever asks for a trial gets when the run ends.
Error trial_cancelled();

/// Thread-safe. Shared with the sinks, so that an answer that comes after the end of the run falls into it
/// and is forgotten.
class Inbox {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  void post(Delivery delivery);

  /// Cancels the trials that were not taken, and those that are posted from now on.
  void close();

  /// Makes the next take() return at once.
  void wake();

  /// The oldest delivery; empty when woken, or at `until` if there is one.
  std::optional<Delivery> take(std::optional<Moment> until);

 private:
  Mutex mutex_;
  Condition arrived_;
  std::deque<Delivery> deliveries_ KERNELSMITH_GUARDED_BY(mutex_);
  bool woken_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  bool closed_ KERNELSMITH_GUARDED_BY(mutex_) = false;
};

}  // namespace kernelsmith
