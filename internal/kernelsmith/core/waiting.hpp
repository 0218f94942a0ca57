// Waiting, for everybody who queues work: pauses and rests that grow, a mailbox, and a thread that looks at
// what is due. What decides takes the time as an argument; only what sleeps reads the clock.
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

/// Whoever meets such an error asks again a little later: a noisy machine comes to rest; a neighbour gives a
/// device back.
inline bool passes_by_itself(ErrorCode code) {
  return code == ErrorCode::unstable || code == ErrorCode::busy;
}

/// The clock's end if the pause is longer than that.
inline Moment moment_after(Moment now, Seconds pause) {
  if (pause >= Moment::max() - now) return Moment::max();
  return now + std::chrono::duration_cast<Moment::duration>(pause);
}

/// The pause after so many failures: `first`, then twice as long after each.
inline Seconds growing_pause(Seconds first, unsigned failures, Seconds longest = Seconds::max()) {
  return std::min(longest, first * std::exp2(std::min(failures - 1.0, 100.0)));
}

/// Sleeps, but no longer than until the stop.
void pause_for(Seconds pause, const std::stop_token& stop);
void wait_for_stop(const std::stop_token& stop);

/// What failed is left alone for a while, longer from failure to failure, until it succeeds. A value.
class Rest {
 public:
  Rest(Seconds first, Seconds longest) : first_(first), longest_(longest) {}

  /// False if it rests already: failures of what was under way together make one rest.
  bool failed(Moment now) {
    if (lasts(now)) return false;
    length_ = growing_pause(first_, ++failures_, longest_);
    until_ = moment_after(now, length_);
    return true;
  }
  /// The next failure is a first one.
  void succeeded() { failures_ = 0; }

  bool lasts(Moment now) const { return now < until_; }
  Moment until() const { return until_; }
  Seconds length() const { return length_; }

 private:
  Seconds first_, longest_, length_{};
  unsigned failures_ = 0;
  Moment until_{};
};

/// Calls when it goes what was added: whoever declares it before a lock has that called without the lock.
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

/// What any thread posts and one takes, in order. Thread-safe.
template <class T>
class Mailbox {
 public:
  /// False if it is closed; `item` is the caller's then.
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

  /// The oldest; empty when it is woken, or at `until` if there is one.
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

  /// What nobody has taken. Nothing is posted from now on.
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

/// A thread that calls a function at the moment that the last call gave, or when it is woken. Its end waits
/// for the call that is under way. Thread-safe.
class Repeater {
 public:
  using Look = std::function<Moment(Moment now, const std::stop_token& stop)>;

  Repeater(Look look, Moment first);
  /// Calls it at once, and again so long after each call.
  Repeater(std::chrono::milliseconds pause, std::function<void(const std::stop_token&)> work);
  void wake();

 private:
  void serve(Moment next, const std::stop_token& stop);

  const Look look_;
  Mutex mutex_;
  StoppableCondition changed_;
  bool woken_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  ///< last: it uses all above
};

}  // namespace kernelsmith
