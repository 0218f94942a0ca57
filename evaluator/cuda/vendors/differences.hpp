// How each vendor's C++ differs from CUDA C++, for prompts: the text differences.md in the vendor's folder.
#pragma once

namespace kernelsmith::cuda {

extern const char* const kMacaDifferences;
extern const char* const kHipDifferences;

}  // namespace kernelsmith::cuda
