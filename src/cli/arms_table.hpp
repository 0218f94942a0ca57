// A table of the gains of each operator with each model.
#pragma once

#include <string>

#include <kernelsmith/engine/arms.hpp>

namespace kernelsmith::cli {

/// A heading and one line for each arm, the one with the most recent tries first; empty if there is only one
/// arm.
std::string arms_table(const ArmRecord& record);

}  // namespace kernelsmith::cli
