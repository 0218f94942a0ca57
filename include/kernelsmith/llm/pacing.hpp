// Rate and concurrency limits for calls. Pure: time is a parameter.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace kernelsmith {

/// Limits that the user sets. A value.
struct PacingOptions {
  std::optional<double> requests_per_minute = std::nullopt;
  /// The tokens of the prompt plus the output limit, estimated before the call.
  std::optional<double> tokens_per_minute = std::nullopt;
  unsigned concurrency = 64;  ///< the largest number of calls in flight
};

/// A token bucket: holds the amount of one minute and refills evenly.
class Bucket {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  Bucket(double per_minute, Instant now);

  /// The time until `amount` may be taken. If `amount` is larger than the bucket's capacity, it is the time
  /// until the bucket is full.
  std::chrono::milliseconds wait_for(double amount, Instant now) const;
  void take(double amount, Instant now);

 private:
  double level_at(Instant now) const;

  double per_minute_;
  double level_;
  Instant at_;
};

/// Decides when the next call of one endpoint may be sent: by the user's rates, the server's pauses, and a
/// window of calls in flight. Without hints from the server, the window grows by one after a window of
/// successes. It is halved when the server is overloaded (AIMD; Chiu and Jain, 1989), but only once for all
/// calls that were sent before. Not thread-safe.
class Pacer {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  Pacer(const PacingOptions& options, Instant now);

  /// The time until a call of this many tokens may be sent. Zero if it may be sent now; empty if another call
  /// must end first.
  std::optional<std::chrono::milliseconds> wait_for(double tokens, Instant now) const;

  /// Records that a call is sent. Returns the number to pass to ended().
  std::uint64_t begun(double tokens, Instant now);

  enum class End {
    success,
    overloaded,  ///< the server asked for less without saying when
    hinted,      ///< the server said when to come back
    other,       ///< an outcome that is unrelated to load
  };
  void ended(std::uint64_t call, End how);

  /// Sends no calls before `when`.
  void hold_until(Instant when);

  unsigned in_flight() const { return in_flight_; }
  unsigned window() const { return static_cast<unsigned>(window_); }

 private:
  double widest_;
  double window_;
  std::optional<Bucket> requests_, tokens_;
  Instant held_until_;
  unsigned in_flight_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t first_after_cut_ = 0;  ///< calls before this one were sent with a wider window
};

}  // namespace kernelsmith
