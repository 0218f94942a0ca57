// The names that HIP's planner speaks of, and how its runtime counts attributes.
#include <algorithm>

#include "planner/recorder.hpp"
#include "vendors/hip/attributes.hpp"
#include "vendors/hip/names.hpp"

namespace kernelsmith::cuda::planner {

const RuntimeNames& runtime_names() {
  static const RuntimeNames names = hip_names();
  return names;
}

int attribute_of(int theirs) {
  const auto* const found = std::ranges::find(kHipAttributes, theirs, &std::pair<int, int>::second);
  return found != std::end(kHipAttributes) ? found->first : 0;
}

}  // namespace kernelsmith::cuda::planner
