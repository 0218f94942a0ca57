// PlainVerdict: how a candidate does without kernelsmith, in the program that it was written for.
#pragma once

#include <string>

namespace kernelsmith {

/// A candidate's own program, run with its user's rights: a few calls compared with the reference's, and
/// calls timed as other harnesses time them. It is no score. A value.
struct PlainVerdict {
  std::string stage;    ///< the first that failed (build, construct, run, compare, time), or `done`
  std::string problem;  ///< what failed, with file and line; empty if nothing did
  double build_s = 0;   ///< to import the candidate and build its extensions
  double reference_us = 0, candidate_us = 0;  ///< means over the timed calls; 0 if nothing was timed
  std::string environment;                    ///< "PyTorch 2.11.0, NVIDIA H100 80GB HBM3"

  bool passed() const { return stage == "done"; }
  double speedup() const { return candidate_us > 0 ? reference_us / candidate_us : 0; }
};

}  // namespace kernelsmith
