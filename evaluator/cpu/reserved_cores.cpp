#include "reserved_cores.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The lowest and the next real-time priorities: above every ordinary program, below what an administrator
/// put among the real-time ones.
constexpr int kRunnerPriority = 1, kJudgePriority = 2;

fs::path folder_of(int core) { return "/sys/devices/system/cpu/cpu" + std::to_string(core); }

std::vector<int> allowed_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mask)) cores.push_back(core);
  return cores;
}

/// A name for the physical core: the list of those that share it.
std::string physical_core(int core) {
  std::string siblings;
  std::ifstream file(folder_of(core) / "topology" / "thread_siblings_list");
  return std::getline(file, siblings) ? siblings : std::to_string(core);
}

/// From the last on, for most interrupts go to the first; one of each physical core before their siblings.
std::vector<int> by_preference(std::vector<int> cores) {
  std::ranges::reverse(cores);
  std::set<std::string> taken;
  std::stable_partition(cores.begin(), cores.end(),
                        [&](int core) { return taken.insert(physical_core(core)).second; });
  return cores;
}

bool set_policy(pid_t thread, int policy, int priority) {
  sched_param parameters{};
  parameters.sched_priority = priority;
  return ::sched_setscheduler(thread, policy, &parameters) == 0;
}

bool lock_all(const std::vector<FileDescriptor>& locks) {
  const auto refused = std::ranges::find_if(
      locks, [](const auto& lock) { return ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; });
  for (auto held = locks.begin(); refused != locks.end() && held != refused; ++held)
    ::flock(held->get(), LOCK_UN);
  return refused == locks.end();
}

}  // namespace

ReservedCores::ReservedCores(int count) : numbers_(by_preference(allowed_cores())) {
  if (numbers_.size() > static_cast<std::size_t>(count)) numbers_.resize(static_cast<std::size_t>(count));
  std::ranges::sort(numbers_);
  for (const int core : numbers_) {
    const int folder = ::open(folder_of(core).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
  for (const FileDescriptor& lock : cores_->locks_) ::flock(lock.get(), LOCK_UN);
}

Result<ReservedCores::Hold> ReservedCores::hold(std::chrono::milliseconds limit) const {
  const auto deadline = Clock::now() + limit;
  while (!lock_all(locks_)) {
    if (Clock::now() > deadline)
      return fail(ErrorCode::unstable, "another kernelsmith keeps the cores on which this task is timed", {},
                  "let it end, or give each its own cores by taskset");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Hold(*this);
}

}  // namespace kernelsmith
