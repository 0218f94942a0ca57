// Profiles launches from the plan and the compiled image, without running anything. Pure.
#pragma once

#include <vector>

#include <kernelsmith/evaluator/gpu_profile.hpp>

#include "plan_cache.hpp"

namespace kernelsmith::cuda {

/// The launches of a call at the first shape, in order, and how they fill the device.
std::vector<LaunchProfile> launch_profiles(const PlannedBinary& planned, const DeviceFacts& device);

}  // namespace kernelsmith::cuda
