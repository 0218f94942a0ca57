// The names that a vendor's planner uses, and its runtime's numbers of attributes.
#include <algorithm>

#include "planner/recorder.hpp"
#include "vendors/names.hpp"

namespace kernelsmith::cuda::planner {

const RuntimeNames& runtime_names() {
  static const RuntimeNames names = KERNELSMITH_RUNTIME_NAMES();
  return names;
}

int attribute_of(int theirs) {
  const auto known = runtime_names().attributes;
  if (known.empty()) return theirs;
  const auto found = std::ranges::find(known, theirs, &std::pair<int, int>::second);
  return found != known.end() ? found->first : 0;
}

}  // namespace kernelsmith::cuda::planner
