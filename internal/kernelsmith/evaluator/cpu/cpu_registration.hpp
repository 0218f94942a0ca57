// The backend `cpu`, for a registry (kernelsmith/session/registry.hpp).
#pragma once

#include <kernelsmith/evaluator/evaluator_provider.hpp>

namespace kernelsmith {

BackendRegistration cpu_backend();

}  // namespace kernelsmith
