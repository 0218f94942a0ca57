// What each operator of each model has brought, as a table for a person.
#pragma once

#include <string>

#include <kernelsmith/engine/arms.hpp>

namespace kernelsmith::cli {

/// One line for each arm, the one with the most late tries first, beneath a head; empty if there is but one.
std::string arms_table(const ArmRecord& record);

}  // namespace kernelsmith::cli
