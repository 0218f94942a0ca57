// ReservedCores: the cores that time kernels of several threads. Such kernels are scored by wall time, which
// any program on the same core would disturb. So these kernels get exactly as many cores as the task has
// threads and, if that is permitted, priority over other programs there.
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
  /// Chooses `count` of the cores that the calling thread may use, or all of them if there are fewer. Cores
  /// that share no physical core are chosen first.
  explicit ReservedCores(int count);

  const std::vector<int>& numbers() const { return numbers_; }

  /// Gives stopped threads, and all that they will start, priority over ordinary programs. False if that is
  /// not permitted (it takes root or RLIMIT_RTPRIO). The threads must be bound to the cores
  /// (SandboxSpec::cores).
  static bool put_first(std::span<const pid_t> threads);

  /// During its lifetime no other kernelsmith of this machine times anything on the cores, and the calling
  /// thread has priority over the programs bound to them, so that it can stop them at any moment.
  class Hold {
   public:
    Hold(Hold&& other) noexcept;
    Hold& operator=(Hold&&) = delete;
    ~Hold();

   private:
    friend class ReservedCores;
    explicit Hold(const ReservedCores& cores);
    const ReservedCores* cores_;
    int policy_;  ///< earlier settings of the calling thread
    sched_param parameters_{};
  };

  /// Error: `unstable` if another kernelsmith does not release the cores within `limit`.
  Result<Hold> hold(std::chrono::milliseconds limit) const;

 private:
  std::vector<int> numbers_;
  std::vector<Descriptor> locks_;  ///< the folders of the cores in /sys; none if there is no /sys
};

}  // namespace kernelsmith::cpu
