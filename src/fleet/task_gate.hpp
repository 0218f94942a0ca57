// TaskGate: on a machine that measures time, admits jobs of one task at a time. Needed because an evaluator
// separates only the runs of its own task.
#pragma once

#include <cstdint>
#include <deque>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/mutex.hpp>

namespace kernelsmith::fleet {

/// Thread-safe. Admits jobs in the order of arrival: a waiting task comes before later jobs of the present
/// task.
class TaskGate {
 public:
  /// Admission to the gate: the constructor waits for it, and the destructor gives it up.
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
