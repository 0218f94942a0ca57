#include "cores.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string>

#include <sched.h>

namespace kernelsmith {
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

/// A name for the physical core: the list of those that share it.
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

std::vector<int> cores_beside(int core) {
  std::vector<int> others = allowed_cores();
  std::erase(others, core);
  std::vector<int> farther = others;
  std::erase_if(farther, [mine = physical_core(core)](int other) { return physical_core(other) == mine; });
  return farther.empty() ? others : farther;
}

BoundTo::BoundTo(std::span<const int> cores) : before_(allowed_cores()) {
  if (!cores.empty()) static_cast<void>(bind_to(std::array{pid_t{0}}, cores));
}

BoundTo::~BoundTo() { static_cast<void>(bind_to(std::array{pid_t{0}}, before_)); }

std::filesystem::path folder_of_core(int core, const std::filesystem::path& processors) {
  return processors / ("cpu" + std::to_string(core));
}

}  // namespace kernelsmith
