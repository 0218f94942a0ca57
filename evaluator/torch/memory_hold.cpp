#include "memory_hold.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kernelsmith::torch {
namespace {

/// The interval of checks. It may be this long, because a waiting process has already waited for a judge and
/// a runner to start.
constexpr auto kLookEvery = std::chrono::milliseconds(200);

}  // namespace

MemoryHold::MemoryHold(DeviceMemory memory, std::function<void()> give_back, DeviceMemory::Tell tell,
                       double turn_s)
    : memory_(std::move(memory)),
      give_back_(std::move(give_back)),
      tell_(std::move(tell)),
      turn_s_(turn_s),
      watcher_(kLookEvery, [this](const std::stop_token&) {
        const MutexLock lock(mutex_);
        yield_to_others();
      }) {}

MemoryHold::~MemoryHold() {
  const MutexLock lock(mutex_);
  drop();
}

Status MemoryHold::begin(std::uint64_t bytes, const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  bytes = std::min(bytes, memory_.capacity());
  const bool enough = held_ && (held_->bytes() >= bytes || held_->grow_to(bytes));
  if (!enough) {
    drop();  // no process may hold memory while it waits for more
    auto taken = memory_.take(bytes, stop, tell_);
    if (!taken) return taken.error();
    held_.emplace(std::move(*taken));
    since_ = std::chrono::steady_clock::now();
  }
  held_->lessen_to(bytes);
  used_ = true;
  return {};
}

void MemoryHold::end(bool keep) {
  const MutexLock lock(mutex_);
  used_ = false;
  if (!keep) return drop();
  yield_to_others();
}

void MemoryHold::yield_to_others() {
  const std::chrono::duration<double> had = std::chrono::steady_clock::now() - since_;
  if (!used_ && held_ && had.count() >= turn_s_ && held_->is_wanted()) drop();
}

void MemoryHold::drop() {
  if (!held_) return;
  give_back_();
  held_.reset();
}

}  // namespace kernelsmith::torch
