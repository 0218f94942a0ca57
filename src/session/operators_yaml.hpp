// The section `operators` of run.yaml.
#pragma once

#include <kernelsmith/config/section.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {

/// A list to draw from by weight, or a mapping of `choose`, `cost` and that list as `arms`. Missing keys keep
/// their values. Needs the proposer, because arms may name its models.
void list_operators(Section& run, RunConfig& config);

}  // namespace kernelsmith
