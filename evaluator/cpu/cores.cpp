#include "cores.hpp"

#include <algorithm>
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

std::filesystem::path folder_of_core(int core, const std::filesystem::path& processors) {
  return processors / ("cpu" + std::to_string(core));
}

}  // namespace kernelsmith
