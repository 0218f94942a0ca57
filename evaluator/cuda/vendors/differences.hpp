// The differences of each vendor's C++ from CUDA C++, for prompts: differences.md in the vendor's folder.
#pragma once

namespace kernelsmith::cuda {

extern const char* const kMacaDifferences;
extern const char* const kHipDifferences;

}  // namespace kernelsmith::cuda
