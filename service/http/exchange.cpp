#include "exchange.hpp"

#include <utility>

namespace kernelsmith::http {
namespace {

/// The most bytes that wait for a client that does not read.
constexpr std::size_t kMostWaiting = std::size_t{4} << 20;

}  // namespace

bool Exchange::answer(Response response) {
  const MutexLock lock(mutex_);
  if (std::exchange(answered_, true) || !wake_) return false;
  response_ = std::move(response);
  wake();
  return true;
}

bool Exchange::begin_stream() {
  const MutexLock lock(mutex_);
  if (std::exchange(answered_, true)) return false;
  streaming_ = true;
  wake();
  return true;
}

bool Exchange::push(std::string_view bytes) {
  const MutexLock lock(mutex_);
  if (!wake_ || ended_) return false;
  if (bytes_.size() + bytes.size() > kMostWaiting) {
    ended_ = true;
    wake();
    return false;
  }
  bytes_ += bytes;
  wake();
  return true;
}

void Exchange::end_stream() {
  const MutexLock lock(mutex_);
  ended_ = true;
  wake();
}

bool Exchange::is_closed() const {
  const MutexLock lock(mutex_);
  return !wake_ || ended_;
}

Exchange::Taken Exchange::take() {
  const MutexLock lock(mutex_);
  return {std::exchange(response_, std::nullopt), streaming_, std::exchange(bytes_, {}), ended_};
}

void Exchange::detach() {
  const MutexLock lock(mutex_);
  wake_ = nullptr;
}

void Exchange::wake() const {
  if (wake_) wake_();
}

}  // namespace kernelsmith::http
