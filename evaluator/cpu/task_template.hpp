// The task that `kernelsmith init --template cpu` makes: the files of template/, which the build puts into
// the program.
#pragma once

#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::cpu {

std::vector<SourceFile> task_template();

}  // namespace kernelsmith::cpu
