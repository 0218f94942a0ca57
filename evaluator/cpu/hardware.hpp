// What this machine is, for reports.
#pragma once

#include <string>

namespace kernelsmith {

/// The processor's name as the kernel gives it, with the number of cores.
std::string processor_name();

}  // namespace kernelsmith
