// The backend `python`, for a registry (kernelsmith/session/registry.hpp).
#pragma once

#include <kernelsmith/evaluator/evaluator_provider.hpp>

namespace kernelsmith {

BackendRegistration python_backend();

}  // namespace kernelsmith
