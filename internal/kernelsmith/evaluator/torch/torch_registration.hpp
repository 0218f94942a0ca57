// The backend `torch`, for a registry (kernelsmith/session/registry.hpp).
#pragma once

#include <kernelsmith/evaluator/evaluator_provider.hpp>

namespace kernelsmith {

BackendRegistration torch_backend();

}  // namespace kernelsmith
