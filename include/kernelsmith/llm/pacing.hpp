// How fast and how wide calls are sent. Pure: time is handed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace kernelsmith {

/// Limits that the user sets. A value.
struct PacingOptions {
  std::optional<double> requests_per_minute = std::nullopt;
  /// Prompt and output limit together, as estimated before the call.
  std::optional<double> tokens_per_minute = std::nullopt;
  unsigned concurrency = 64;  ///< calls in flight at the most
};

/// A token bucket: holds a minute's worth, and refills evenly.
class Bucket {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  Bucket(double per_minute, Instant now);

  /// How long until `amount` may be taken. What is more than the bucket holds waits for a full one.
  std::chrono::milliseconds wait_for(double amount, Instant now) const;
  void take(double amount, Instant now);

 private:
  double level_at(Instant now) const;

  double per_minute_;
  double level_;
  Instant at_;
};

/// Decides when the next call of one endpoint may go out: the user's rates, the server's own pauses, and a
/// window of calls in flight. If the server gives no hints, the window grows by one for each window's
/// worth of successes and is halved when the server is overloaded (AIMD; Chiu and Jain, 1989), at most once
/// for the calls that were sent before. Not thread-safe.
class Pacer {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  Pacer(const PacingOptions& options, Instant now);

  /// Zero if a call of so many tokens may go out now, else how long until it may; empty if it waits for
  /// another one to end.
  std::optional<std::chrono::milliseconds> wait_for(double tokens, Instant now) const;

  /// A call goes out; the number it returns is given to ended().
  std::uint64_t begun(double tokens, Instant now);

  enum class End {
    success,
    overloaded,  ///< the server asked for less without saying when
    hinted,      ///< the server said when to come back
    other,       ///< says nothing about load
  };
  void ended(std::uint64_t call, End how);

  /// Nothing goes out before `when`.
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
  std::uint64_t first_after_cut_ = 0;  ///< calls before it were sent under a wider window
};

}  // namespace kernelsmith
