// When a failed call is tried again: a pure policy.
#pragma once

#include <chrono>
#include <optional>

#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith {

/// Exponential back-off with full jitter (Brooker, "Exponential Backoff And Jitter", AWS 2015), and the
/// server's own word if it gives one. A value.
struct RetryPolicy {
  unsigned attempts = 6;                         ///< in all, the first one included
  std::chrono::milliseconds first_pause{1'000};  ///< the upper end of the first pause
  std::chrono::milliseconds longest_pause{60'000};
  /// The longest pause that a server may ask for; one that asks for more ends the call, `rate_limited`.
  std::chrono::milliseconds longest_asked_pause{600'000};

  /// The pause before the next attempt, after `failed` failed ones, of which `last` was the last; empty if
  /// the call has failed for good. A pause that the server asks for is kept in full, and jitter is added, so
  /// that those who were turned away together do not come back together.
  std::optional<std::chrono::milliseconds> pause(unsigned failed, const CallFailure& last, Rng& rng) const;

  /// The error to report if pause() is empty: the last failure's, with the number of attempts.
  Error final_error(unsigned failed, const CallFailure& last) const;
};

}  // namespace kernelsmith
