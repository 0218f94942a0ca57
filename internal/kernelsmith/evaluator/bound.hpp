// Estimates what limits the speed of a GPU candidate's call, from numbers that need no profiler.
#pragma once

#include <map>
#include <string>

#include <kernelsmith/core/evaluation.hpp>

namespace kernelsmith {

/// One call at the first timed shape. A 0 means unknown, unless the comment says otherwise.
struct CallFigures {
  double us = 0;                  ///< time of the call
  double share_of_bandwidth = 0;  ///< (bytes that must be moved) / time, as a share of a large copy's speed
  double launches = 0;            ///< number of kernels
  double spill_bytes = 0;         ///< local memory of a thread, in the worst kernel; 0: none
  double occupancy = 0;  ///< threads on a multiprocessor as a share of its maximum; the kernels' minimum
  double waves = 0;      ///< blocks / blocks that the device runs at once; the kernels' maximum
};

/// Says in sentences for the next attempt what limits the call, and then what is unusual. Empty if the
/// numbers are inconclusive. Pure.
std::string bound_of(const CallFigures& call);

/// The feature's value, or 0 if the candidate has no such feature.
double feature_of(const Acceptance& accepted, const std::string& name);

/// Adds these features to the evaluation's own. A rejection is returned unchanged.
Evaluation with_features(const Evaluation& evaluation, const std::map<std::string, double>& features);

}  // namespace kernelsmith
