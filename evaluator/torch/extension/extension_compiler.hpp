// The BuildService of this machine's compilers.
#pragma once

#include <memory>

#include "extension/build_service.hpp"
#include "extension/extension_places.hpp"

namespace kernelsmith::torch {

/// Errors: tool_missing if nvcc or the files for building extensions are missing.
Result<std::shared_ptr<LibraryCompiler>> make_library_compiler(const ExtensionPlaces& places,
                                                               bool unsandboxed);

/// Looks for nvcc at the first extension, because a search without extensions does not need it.
std::shared_ptr<BuildService> make_build_service(const ExtensionPlaces& places, bool unsandboxed);

}  // namespace kernelsmith::torch
