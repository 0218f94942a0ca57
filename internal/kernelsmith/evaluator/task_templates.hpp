// The tasks that `kernelsmith init --template BACKEND` makes. The build puts the files of each backend's
// folder template/ into the program. For maca and hip these are CUDA's files with another vendor's names.
#pragma once

#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

namespace command {
std::vector<SourceFile> task_template();
}
namespace cpu {
std::vector<SourceFile> task_template();
}
namespace cuda {
std::vector<SourceFile> task_template();
}
namespace python_process {
std::vector<SourceFile> task_template();
}

}  // namespace kernelsmith
