// The task that `kernelsmith init --template python` makes: the files of template/, which the build puts into
// the program.
#pragma once

#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::python_process {

std::vector<SourceFile> task_template();

}  // namespace kernelsmith::python_process
