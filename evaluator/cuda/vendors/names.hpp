// How the vendors' runtimes name their functions: for the planners' programs, which have nothing else of
// their folders.
#pragma once

#include "planner/runtime_names.hpp"

namespace kernelsmith::cuda {

RuntimeNames cuda_names();
RuntimeNames maca_names();
RuntimeNames hip_names();

}  // namespace kernelsmith::cuda
