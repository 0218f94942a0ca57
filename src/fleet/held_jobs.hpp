// HeldJobs: what a worker is working on. It signals that to the server each third of the time after which the
// server would give a job to somebody else.
#pragma once

#include <memory>
#include <set>
#include <thread>

#include <kernelsmith/core/mutex.hpp>

#include "bus.hpp"

namespace kernelsmith::fleet {

/// Thread-safe.
class HeldJobs {
 public:
  explicit HeldJobs(milliseconds ack_wait)
      : thread_([this, every = ack_wait / 3](const std::stop_token& stop) { tell(every, stop); }) {}

  /// While it lives, the job is reported to the server.
  class Hold {
   public:
    Hold(HeldJobs& jobs, Delivery& job) : jobs_(jobs), job_(job) {
      const MutexLock lock(jobs_.mutex_);
      jobs_.held_.insert(&job_);
    }
    ~Hold() {
      const MutexLock lock(jobs_.mutex_);
      jobs_.held_.erase(&job_);
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    HeldJobs& jobs_;
    Delivery& job_;
  };

 private:
  void tell(milliseconds every, const std::stop_token& stop) {
    MutexLock lock(mutex_);
    while (!stop.stop_requested()) {
      changed_.wait_for(lock, stop, every, [] { return false; });
      for (Delivery* job : held_) job->still_working();
    }
  }

  Mutex mutex_;
  StoppableCondition changed_;
  std::set<Delivery*> held_ KERNELSMITH_GUARDED_BY(mutex_);
  std::jthread thread_;  ///< last: it uses all above
};

}  // namespace kernelsmith::fleet
