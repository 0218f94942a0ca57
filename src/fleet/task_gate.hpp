// TaskGate: admits jobs of one task at a time on a machine that measures time. An evaluator only separates
// the runs of its own task.
#pragma once

#include <cstdint>
#include <deque>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/mutex.hpp>

namespace kernelsmith::fleet {

/// Thread-safe. First come, first served: a waiting task is admitted before more jobs of the present one.
class TaskGate {
 public:
  /// The constructor waits for admission; the destructor leaves.
  class Pass {
   public:
    Pass(TaskGate& gate, const Digest& task) : gate_(gate) { gate_.enter(task); }
    ~Pass() { gate_.leave(); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    TaskGate& gate_;
  };

 private:
  void enter(const Digest& task) {
    MutexLock lock(mutex_);
    const std::uint64_t ticket = next_ticket_++;
    waiting_.push_back(ticket);
    changed_.wait(lock, [&]() KERNELSMITH_REQUIRES(mutex_) {
      return waiting_.front() == ticket && (inside_ == 0 || task_ == task);
    });
    waiting_.pop_front();
    task_ = task;
    ++inside_;
    changed_.notify_all();
  }

  void leave() {
    const MutexLock lock(mutex_);
    --inside_;
    changed_.notify_all();
  }

  Mutex mutex_;
  Condition changed_;
  std::deque<std::uint64_t> waiting_ KERNELSMITH_GUARDED_BY(mutex_);
  std::uint64_t next_ticket_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  unsigned inside_ KERNELSMITH_GUARDED_BY(mutex_) = 0;
  Digest task_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::fleet
