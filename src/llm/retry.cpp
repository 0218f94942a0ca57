#include <algorithm>
#include <cmath>

#include <kernelsmith/llm/retry.hpp>

namespace kernelsmith {

using std::chrono::milliseconds;

std::optional<milliseconds> RetryPolicy::pause(unsigned failed, const CallFailure& last, Rng& rng) const {
  if (!last.transient || failed >= attempts) return std::nullopt;
  const auto ceiling = std::min(static_cast<double>(longest_pause.count()),
                                static_cast<double>(first_pause.count()) * std::exp2(failed - 1.0));
  const milliseconds jitter(static_cast<milliseconds::rep>(ceiling * rng.uniform()));
  if (!last.retry_after) return jitter;
  if (*last.retry_after > longest_asked_pause) return std::nullopt;
  return *last.retry_after + jitter / 4;
}

Error RetryPolicy::final_error(unsigned failed, const CallFailure& last) const {
  Error error = last.error;
  if (last.transient && last.retry_after && *last.retry_after > longest_asked_pause) {
    error.code = ErrorCode::rate_limited;
    error.message += "; it asks for a pause of " + std::to_string(last.retry_after->count() / 1000) + " s";
  }
  if (failed > 1) error.message += "; " + std::to_string(failed) + " attempts";
  return error;
}

}  // namespace kernelsmith
