#include "inbox.hpp"

#include <utility>

namespace kernelsmith {

namespace {

void cancel_trial(Delivery& delivery) {
  if (const auto* asked = std::get_if<AskedTrial>(&delivery.content)) asked->done(trial_cancelled());
}

}  // namespace

Error trial_cancelled() { return fail(ErrorCode::cancelled, "the run ended before it was evaluated"); }

void Inbox::post(Delivery delivery) {
  bool closed = false;
  {
    const MutexLock lock(mutex_);
    closed = closed_;
    if (!closed) deliveries_.push_back(std::move(delivery));
  }
  if (closed) return cancel_trial(delivery);
  arrived_.notify_one();
}

void Inbox::close() {
  std::deque<Delivery> left;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    left.swap(deliveries_);
  }
  for (Delivery& delivery : left) cancel_trial(delivery);
}

void Inbox::wake() {
  {
    const MutexLock lock(mutex_);
    woken_ = true;
  }
  arrived_.notify_one();
}

std::optional<Delivery> Inbox::take(std::optional<Moment> until) {
  MutexLock lock(mutex_);
  const auto ready = [&]() KERNELSMITH_REQUIRES(mutex_) { return woken_ || !deliveries_.empty(); };
  if (until) {
    arrived_.wait_until(lock, *until, ready);
  } else {
    arrived_.wait(lock, ready);
  }
  woken_ = false;
  if (deliveries_.empty()) return std::nullopt;
  Delivery delivery = std::move(deliveries_.front());
  deliveries_.pop_front();
  return delivery;
}

}  // namespace kernelsmith
