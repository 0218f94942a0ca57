// The task that `kernelsmith init --template cuda` makes, also for maca and hip with their names: the files
// of template/, which the build embeds.
#pragma once

#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::cuda {

std::vector<SourceFile> task_template();

}  // namespace kernelsmith::cuda
