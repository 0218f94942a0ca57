// The backend `command`, for a registry (kernelsmith/session/registry.hpp).
#pragma once

#include <kernelsmith/evaluator/evaluator_provider.hpp>

namespace kernelsmith {

BackendRegistration command_backend();

}  // namespace kernelsmith
