#include "searched_workloads.hpp"

#include <algorithm>

namespace kernelsmith::torch {

std::vector<std::size_t> searched_workloads(const ReferenceFacts& reference, const Digest& task) {
  std::vector<std::size_t> timed, checked;
  for (std::size_t workload = 0; workload < reference.workloads.size(); ++workload)
    (reference.workloads[workload].told.check ? checked : timed).push_back(workload);
  for (std::vector<std::size_t>* const some : {&timed, &checked})
    std::ranges::stable_sort(*some, {},
                             [&](std::size_t one) { return reference.workloads[one].bytes_moved(); });
  const std::size_t parts = std::min(kSearchedWorkloads, timed.size());
  std::vector<std::size_t> chosen;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part * timed.size() / parts, end = (part + 1) * timed.size() / parts;
    chosen.push_back(timed[begin + task.bytes[part] % (end - begin)]);
  }
  if (!checked.empty()) chosen.push_back(checked.front());
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace kernelsmith::torch
