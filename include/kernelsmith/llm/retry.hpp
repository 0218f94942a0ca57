// A pure policy for retries of failed calls.
#pragma once

#include <chrono>
#include <optional>

#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith {

/// Exponential back-off with full jitter (Brooker, "Exponential Backoff And Jitter", AWS 2015), or the
/// server's requested pause. A value.
struct RetryPolicy {
  unsigned attempts = 6;                         ///< number of all attempts, including the first
  std::chrono::milliseconds first_pause{1'000};  ///< the upper end of the first pause
  std::chrono::milliseconds longest_pause{60'000};
  /// The longest pause that a server may ask for. If it asks for a longer one, the call ends with
  /// `rate_limited`.
  std::chrono::milliseconds longest_asked_pause{600'000};

  /// The pause before the next attempt, after `failed` failures of which `last` is the latest. Empty if the
  /// call must not be tried again. A pause that the server requests is kept in full. Jitter is added, so that
  /// clients that were rejected together retry at different times.
  std::optional<std::chrono::milliseconds> pause(unsigned failed, const CallFailure& last, Rng& rng) const;

  /// The error to report if pause() is empty: the last failure's, with the number of attempts.
  Error final_error(unsigned failed, const CallFailure& last) const;
};

}  // namespace kernelsmith
