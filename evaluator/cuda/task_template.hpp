// The task that `kernelsmith init --template cuda` makes, and, with another vendor's names, those of maca and
// hip: the files of template/, which the build puts into the program.
#pragma once

#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::cuda {

std::vector<SourceFile> task_template();

}  // namespace kernelsmith::cuda
