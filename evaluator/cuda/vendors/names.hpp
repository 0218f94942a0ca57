// The vendors' names of runtime functions, for the planners' programs, which use nothing else from the
// vendors' folders.
#pragma once

#include "planner/runtime_names.hpp"

namespace kernelsmith::cuda {

RuntimeNames cuda_names();
RuntimeNames maca_names();
RuntimeNames hip_names();

}  // namespace kernelsmith::cuda
