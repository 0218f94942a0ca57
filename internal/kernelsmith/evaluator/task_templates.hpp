// The tasks that `kernelsmith init --template BACKEND` makes: the files of each backend's template/, which
// the build puts into the program. CUDA's, with another vendor's names, are those of maca and hip.
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
