// What code that queues work needs for waiting: pauses that grow, rests after failures, a mailbox, and a
// thread that does what is due. Code that decides takes the time as an argument; only code that sleeps reads
// the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/mutex.hpp>

namespace kernelsmith {

using Moment = std::chrono::steady_clock::time_point;
using Seconds = std::chrono::duration<double>;

/// Errors that a retry a little later may fix: a noisy machine becomes quiet; a neighbour returns a device.
inline bool passes_by_itself(ErrorCode code) {
  return code == ErrorCode::unstable || code == ErrorCode::busy;
}

/// The time after a pause, but no later than the end of the clock.
inline Moment moment_after(Moment now, Seconds pause) {
  if (pause >= Moment::max() - now) return Moment::max();
  return now + std::chrono::duration_cast<Moment::duration>(pause);
}

/// The pause after a number of failures: `first` after one failure, doubled for each further failure.
inline Seconds growing_pause(Seconds first, unsigned failures, Seconds longest = Seconds::max()) {
  return std::min(longest, first * std::exp2(std::min(failures - 1.0, 100.0)));
}

/// Sleeps until the time or the stop request.
void pause_for(Seconds pause, const std::stop_token& stop);
void wait_for_stop(const std::stop_token& stop);

/// A rest after failures, longer after each one, until the next success. A value.
class Rest {
 public:
  Rest(Seconds first, Seconds longest) : first_(first), longest_(longest) {}

  /// Returns false if it is already resting, so that failures of jobs that ran at the same time cause one
  /// rest.
  bool failed(Moment now) {
    if (lasts(now)) return false;
    length_ = growing_pause(first_, ++failures_, longest_);
    until_ = moment_after(now, length_);
    return true;
  }
  /// Records a success: the next failure counts as the first.
  void succeeded() { failures_ = 0; }

  bool lasts(Moment now) const { return now < until_; }
  Moment until() const { return until_; }
  Seconds length() const { return length_; }

 private:
  Seconds first_, longest_, length_{};
  unsigned failures_ = 0;
  Moment until_{};
};

/// Calls the added functions in its destructor. If it is declared before a lock, they are called without the
/// lock.
class Deferred {
 public:
  Deferred() = default;
  ~Deferred() {
    for (const auto& call : calls_) call();
  }
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  void add(std::function<void()> call) { calls_.push_back(std::move(call)); }

 private:
  std::vector<std::function<void()>> calls_;
};

/// A queue. Any thread posts items, and one thread takes them in order. Thread-safe.
template <class T>
class Mailbox {
 public:
  /// Returns false and leaves `item` to the caller if the mailbox is closed.
  bool post(T&& item) {
    {
      const MutexLock lock(mutex_);
      if (closed_) return false;
      items_.push_back(std::move(item));
    }
    arrived_.notify_one();
    return true;
  }

  /// Makes the next take() return at once.
  void wake() {
    {
      const MutexLock lock(mutex_);
      woken_ = true;
    }
    arrived_.notify_one();
  }

  /// Takes the oldest item. Returns empty when it is woken, or at the time `until` if that is set.
  std::optional<T> take(std::optional<Moment> until = std::nullopt) {
    MutexLock lock(mutex_);
    arrived_.wait_until(lock, until.value_or(Moment::max()),
                        [this]() KERNELSMITH_REQUIRES(mutex_) { return woken_ || !items_.empty(); });
    woken_ = false;
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  /// Closes the mailbox to further posts and returns the items that were not taken.
  std::deque<T> close() {
    const MutexLock lock(mutex_);
    closed_ = true;
    return std::exchange(items_, {});
  }

 private:
  Mutex mutex_;
  Condition arrived_;
  std::deque<T> items_ KERNELSMITH_GUARDED_BY(mutex_);
  bool woken_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  bool closed_ KERNELSMITH_GUARDED_BY(mutex_) = false;
};

/// A thread that calls a function when it is woken, or at the time that the last call returned. The
/// destructor waits for a running call. Thread-safe.
class Repeater {
 public:
  using Look = std::function<Moment(Moment now, const std::stop_token& stop)>;

  Repeater(Look look, Moment first);
  /// Calls the function at once, and again after this pause following each call.
  Repeater(std::chrono::milliseconds pause, std::function<void(const std::stop_token&)> work);
  void wake();

 private:
  void serve(Moment next, const std::stop_token& stop);

  const Look look_;
  Mutex mutex_;
  StoppableCondition changed_;
  bool woken_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  ///< last, because it uses all members above
};

}  // namespace kernelsmith
