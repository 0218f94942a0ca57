// The binaries of a task's own sources.
#pragma once

#include <stop_token>

#include <kernelsmith/core/task.hpp>

#include "toolchain/cuda_compiler.hpp"

namespace kernelsmith::cuda {

/// A member is null if the task has no such source.
struct Objects {
  CudaBinaryPtr declared, wide;  ///< the reference in its own precision, and the source of the truth
  CudaBinaryPtr baseline, seed;
  CudaBinaryPtr yardstick;  ///< the task's own, else the seed, else the baseline
};

/// Builds all sources in parallel, because nvcc takes seconds. Errors: refused if a source does not compile,
/// and the compiler's.
Result<Objects> build_objects(const Task& task, const CudaCompiler& compiler, const std::stop_token& stop);

/// The precision of the truth on a GPU, which has no long double.
OraclePrecision truth_precision_on_gpu(const Task& task);

}  // namespace kernelsmith::cuda
