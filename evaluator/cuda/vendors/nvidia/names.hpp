// How CUDA names its functions: for its planner's program, which has nothing else of its folder.
#pragma once

#include "planner/runtime_names.hpp"

namespace kernelsmith::cuda {

RuntimeNames nvidia_names();

}  // namespace kernelsmith::cuda
