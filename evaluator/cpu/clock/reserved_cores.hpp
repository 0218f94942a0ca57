// ReservedCores: where kernels of several threads are timed. Their wall time counts, which whoever shares a
// core would spoil: so they get as many cores as the task has threads, and no more, and go before everybody
// else there if that is permitted.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include <sched.h>
#include <sys/types.h>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cpu {

/// Not thread-safe.
class ReservedCores {
 public:
  /// Chooses among the cores that the calling thread may use: such as share no physical core first, and all
  /// of them if there are fewer than `count`.
  explicit ReservedCores(int count);

  const std::vector<int>& numbers() const { return numbers_; }

  /// Puts threads that stand still, and all that they will start, before ordinary programs. False if that
  /// is not permitted (it takes root or RLIMIT_RTPRIO). They must be bound to the cores (SandboxSpec::cores).
  static bool put_first(std::span<const pid_t> threads);

  /// While it lives, no other kernelsmith of this machine times anything on the cores, and the calling thread
  /// goes before what is bound to them, so that it can stop that at any moment.
  class Hold {
   public:
    Hold(Hold&& other) noexcept;
    Hold& operator=(Hold&&) = delete;
    ~Hold();

   private:
    friend class ReservedCores;
    explicit Hold(const ReservedCores& cores);
    const ReservedCores* cores_;
    int policy_;  ///< of the calling thread before
    sched_param parameters_{};
  };

  /// Error: `unstable` if another kernelsmith does not let go of the cores within `limit`.
  Result<Hold> hold(std::chrono::milliseconds limit) const;

 private:
  std::vector<int> numbers_;
  std::vector<Descriptor> locks_;  ///< the folders of the cores in /sys; none if there is no /sys
};

}  // namespace kernelsmith::cpu
