#include "clock/reserved_cores.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>

#include "clock/cores.hpp"

namespace kernelsmith::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// The lowest and the next real-time priorities: above every ordinary program, below an administrator's
/// real-time programs.
constexpr int kRunnerPriority = 1, kJudgePriority = 2;

bool set_policy(pid_t thread, int policy, int priority) {
  sched_param parameters{};
  parameters.sched_priority = priority;
  return ::sched_setscheduler(thread, policy, &parameters) == 0;
}

bool lock_all(const std::vector<Descriptor>& locks) {
  const auto refused = std::ranges::find_if(
      locks, [](const auto& lock) { return ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; });
  for (auto held = locks.begin(); refused != locks.end() && held != refused; ++held)
    ::flock(held->get(), LOCK_UN);
  return refused == locks.end();
}

}  // namespace

ReservedCores::ReservedCores(int count) : numbers_(cores_by_preference()) {
  if (numbers_.size() > static_cast<std::size_t>(count)) numbers_.resize(static_cast<std::size_t>(count));
  std::ranges::sort(numbers_);
  for (const int core : numbers_) {
    const int folder = ::open(folder_of_core(core).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) locks_.emplace_back(folder);
  }
}

bool ReservedCores::put_first(std::span<const pid_t> threads) {
  return std::ranges::all_of(threads,
                             [](pid_t thread) { return set_policy(thread, SCHED_RR, kRunnerPriority); });
}

ReservedCores::Hold::Hold(const ReservedCores& cores) : cores_(&cores), policy_(::sched_getscheduler(0)) {
  ::sched_getparam(0, &parameters_);
  set_policy(0, SCHED_RR, kJudgePriority);
}

ReservedCores::Hold::Hold(Hold&& other) noexcept
    : cores_(std::exchange(other.cores_, nullptr)), policy_(other.policy_), parameters_(other.parameters_) {}

ReservedCores::Hold::~Hold() {
  if (cores_ == nullptr) return;
  ::sched_setscheduler(0, policy_, &parameters_);
  for (const Descriptor& lock : cores_->locks_) ::flock(lock.get(), LOCK_UN);
}

Result<ReservedCores::Hold> ReservedCores::hold(std::chrono::milliseconds limit) const {
  const auto deadline = Clock::now() + limit;
  while (!lock_all(locks_)) {
    if (Clock::now() > deadline)
      return fail(ErrorCode::unstable, "another kernelsmith keeps the cores on which this task is timed", {},
                  "wait until it ends, or give each kernelsmith its own cores with taskset");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Hold(*this);
}

}  // namespace kernelsmith::cpu
