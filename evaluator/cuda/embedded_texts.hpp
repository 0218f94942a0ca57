// Texts that the build puts into the program.
#pragma once

namespace kernelsmith::cuda {

// Kernels that the toolkit compiles on the machine where they run.
extern const char* const kJudgeKernels;  ///< device/judge_kernels.cu
extern const char* const kOwnKernels;    ///< runner/own_kernels.cu, for drivers without an assembler

// How each vendor's C++ differs from CUDA C++, for prompts: differences.md in the vendor's folder.
extern const char* const kMacaDifferences;
extern const char* const kHipDifferences;

}  // namespace kernelsmith::cuda
