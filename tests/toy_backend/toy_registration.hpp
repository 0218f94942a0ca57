// The backend `toy`: a candidate is a number, and its score is that number times the task's weight.
#pragma once

#include <kernelsmith/evaluator/evaluator_provider.hpp>

namespace kernelsmith {

BackendRegistration toy_backend();

}  // namespace kernelsmith
