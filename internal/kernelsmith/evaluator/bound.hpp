// Which limit a GPU candidate's call meets, as far as figures tell that need no profiler.
#pragma once

#include <map>
#include <string>

#include <kernelsmith/core/evaluation.hpp>

namespace kernelsmith {

/// One call at the first timed shape. A figure of 0 is not known, unless its comment says otherwise.
struct CallFigures {
  double us = 0;                  ///< of the call
  double share_of_bandwidth = 0;  ///< bytes that must move over the time, as a share of a large copy's speed
  double launches = 0;            ///< kernels
  double spill_bytes = 0;         ///< of a thread in local memory, in the worst kernel; 0: there is nothing
  double occupancy = 0;  ///< threads on a multiprocessor, as a share of its most; the least of the kernels
  double waves = 0;      ///< blocks over those that the device holds at once; the most of the kernels
};

/// What bounds the call, then what stands out, in sentences for the next attempt. Empty if the figures leave
/// it open. Pure.
std::string bound_of(const CallFigures& call);

/// 0 if it has no such feature.
double feature_of(const Acceptance& accepted, const std::string& name);

/// The evaluation with these features beside its own; a rejection comes back unchanged.
Evaluation with_features(const Evaluation& evaluation, const std::map<std::string, double>& features);

}  // namespace kernelsmith
