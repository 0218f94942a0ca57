#include "clock/cores.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>

namespace kernelsmith::cpu {
namespace {

std::vector<int> allowed_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mask)) cores.push_back(core);
  return cores;
}

/// The list of the processors that share the physical core, used as the core's name.
std::string physical_core(int core) {
  std::string siblings;
  std::ifstream file(folder_of_core(core) / "topology" / "thread_siblings_list");
  return std::getline(file, siblings) ? siblings : std::to_string(core);
}

}  // namespace

std::vector<int> cores_by_preference() {
  std::vector<int> cores = allowed_cores();
  std::ranges::reverse(cores);
  std::set<std::string> taken;
  std::stable_partition(cores.begin(), cores.end(),
                        [&](int core) { return taken.insert(physical_core(core)).second; });
  return cores;
}

bool bind_to(std::span<const pid_t> threads, std::span<const int> cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(core, &mask);
  return std::ranges::all_of(
      threads, [&](pid_t thread) { return ::sched_setaffinity(thread, sizeof mask, &mask) == 0; });
}

std::filesystem::path folder_of_core(int core, const std::filesystem::path& processors) {
  return processors / ("cpu" + std::to_string(core));
}

TimingCore TimingCore::choose(const std::filesystem::path& processors) {
  TimingCore chosen;
  const std::vector<int> cores = cores_by_preference();
  if (cores.empty()) return chosen;
  for (const int core : cores) {
    // Locks a file, not the folder: the folder's lock is the reservation of a task with several threads.
    const std::filesystem::path place = folder_of_core(core, processors) / "topology";
    Descriptor lock(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
    chosen.number_ = {core};
    chosen.lock_ = std::move(lock);
    break;
  }
  if (chosen.number_.empty()) chosen.number_ = {cores.front()};
  return chosen;
}

}  // namespace kernelsmith::cpu
