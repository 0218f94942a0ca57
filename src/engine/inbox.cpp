#include "inbox.hpp"

#include <utility>

namespace kernelsmith {

void Inbox::post(Delivery delivery) {
  {
    const MutexLock lock(mutex_);
    deliveries_.push_back(std::move(delivery));
  }
  arrived_.notify_one();
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
