// The names that MACA's planner speaks of, and how its runtime counts attributes.
#include <algorithm>

#include "planner/recorder.hpp"
#include "vendors/maca/attributes.hpp"
#include "vendors/maca/names.hpp"

namespace kernelsmith::cuda::planner {

const RuntimeNames& runtime_names() {
  static const RuntimeNames names = maca_names();
  return names;
}

int attribute_of(int theirs) {
  const auto* const found = std::ranges::find(kMacaAttributes, theirs, &std::pair<int, int>::second);
  return found != std::end(kMacaAttributes) ? found->first : 0;
}

}  // namespace kernelsmith::cuda::planner
