#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/llm/retry.hpp>

namespace kernelsmith {

using std::chrono::milliseconds;

std::optional<milliseconds> RetryPolicy::pause(unsigned failed, const CallFailure& last, Rng& rng) const {
  if (!last.transient || failed >= attempts) return std::nullopt;
  const auto jitter = std::chrono::duration_cast<milliseconds>(
      growing_pause(first_pause, failed, longest_pause) * rng.uniform());
  if (!last.retry_after) return jitter;
  if (*last.retry_after > longest_asked_pause) return std::nullopt;
  return *last.retry_after + jitter / 4;
}

Error RetryPolicy::final_error(unsigned failed, const CallFailure& last) const {
  Error error = last.error;
  if (last.transient && last.retry_after && *last.retry_after > longest_asked_pause) {
    error.code = ErrorCode::rate_limited;
    error.message +=
        "; the server asks for a pause of " + std::to_string(last.retry_after->count() / 1000) + " s";
  }
  if (failed > 1) error.message += "; " + std::to_string(failed) + " attempts";
  return error;
}

}  // namespace kernelsmith
