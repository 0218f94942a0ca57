// The section `operators` of run.yaml.
#pragma once

#include <kernelsmith/config/section.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {

/// A list, which is drawn from by weight; or a mapping of `choose`, `cost` and that list as `arms`. Keys that
/// it lacks keep their values. Needs the proposer, whose models an arm may name.
void list_operators(Section& run, RunConfig& config);

}  // namespace kernelsmith
