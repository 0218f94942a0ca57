#include <algorithm>
#include <cmath>

#include <kernelsmith/llm/pacing.hpp>

namespace kernelsmith {

using std::chrono::milliseconds;

Bucket::Bucket(double per_minute, Instant now) : per_minute_(per_minute), level_(per_minute), at_(now) {}

double Bucket::level_at(Instant now) const {
  const double minutes = std::chrono::duration<double, std::ratio<60>>(now - at_).count();
  return std::min(per_minute_, level_ + std::max(0.0, minutes) * per_minute_);
}

milliseconds Bucket::wait_for(double amount, Instant now) const {
  const double lacking = std::min(amount, per_minute_) - level_at(now);
  if (lacking <= 0) return milliseconds{0};
  return milliseconds(static_cast<milliseconds::rep>(std::ceil(lacking / per_minute_ * 60'000)));
}

void Bucket::take(double amount, Instant now) {
  level_ = level_at(now) - amount;
  at_ = now;
}

Pacer::Pacer(const PacingOptions& options, Instant now)
    : widest_(std::max(1u, options.concurrency)), window_(widest_), held_until_(now) {
  if (options.requests_per_minute) requests_.emplace(*options.requests_per_minute, now);
  if (options.tokens_per_minute) tokens_.emplace(*options.tokens_per_minute, now);
}

std::optional<milliseconds> Pacer::wait_for(double tokens, Instant now) const {
  if (in_flight_ >= window()) return std::nullopt;
  milliseconds wait = std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(held_until_ - now));
  if (requests_) wait = std::max(wait, requests_->wait_for(1, now));
  if (tokens_) wait = std::max(wait, tokens_->wait_for(tokens, now));
  return wait;
}

std::uint64_t Pacer::begun(double tokens, Instant now) {
  ++in_flight_;
  if (requests_) requests_->take(1, now);
  if (tokens_) tokens_->take(tokens, now);
  return calls_++;
}

void Pacer::ended(std::uint64_t call, End how) {
  --in_flight_;
  if (how == End::success) window_ = std::min(widest_, window_ + 1 / window_);
  if (how == End::overloaded && call >= first_after_cut_) {
    window_ = std::max(1.0, window_ / 2);
    first_after_cut_ = calls_;
  }
}

void Pacer::hold_until(Instant when) { held_until_ = std::max(held_until_, when); }

}  // namespace kernelsmith
