// The BuildService of this machine's compilers.
#pragma once

#include <memory>

#include "extension/build_service.hpp"
#include "extension/extension_places.hpp"

namespace kernelsmith::torch {

/// Looks for nvcc with the first extension: whose candidates bring none needs none.
std::shared_ptr<BuildService> make_build_service(const ExtensionPlaces& places, bool unsandboxed);

}  // namespace kernelsmith::torch
