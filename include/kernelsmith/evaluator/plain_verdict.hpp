// PlainVerdict: how a candidate performs without kernelsmith, in the program that it was written for.
#pragma once

#include <string>

namespace kernelsmith {

/// The result of running a candidate as a program with its user's rights: a few calls are compared with the
/// reference, and calls are timed as other harnesses do. It is not a score. A value.
struct PlainVerdict {
  std::string stage;    ///< the first step that failed (build, construct, run, compare, time), or `done`
  std::string problem;  ///< the failure, with file and line; empty for success
  double build_s = 0;   ///< time to import the candidate and build its extensions
  double reference_us = 0, candidate_us = 0;  ///< means over the timed calls; 0 if nothing was timed
  std::string environment;                    ///< "PyTorch 2.11.0, NVIDIA H100 80GB HBM3"

  bool passed() const { return stage == "done"; }
  double speedup() const { return candidate_us > 0 ? reference_us / candidate_us : 0; }
};

}  // namespace kernelsmith
