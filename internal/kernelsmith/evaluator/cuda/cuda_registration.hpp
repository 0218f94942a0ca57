// The backends of GPUs, for a registry (kernelsmith/session/registry.hpp).
#pragma once

#include <kernelsmith/evaluator/evaluator_provider.hpp>

namespace kernelsmith {

BackendRegistration cuda_backend();
BackendRegistration maca_backend();  ///< MetaX's GPUs: docs/backend-maca.md
BackendRegistration hip_backend();   ///< AMD's GPUs: docs/backend-hip.md

}  // namespace kernelsmith
