// The task that `init --template toy` would make.
#pragma once

#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::toy {

std::vector<SourceFile> task_template();

}  // namespace kernelsmith::toy
