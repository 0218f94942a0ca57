// What a search knows about the values of a program's knobs: plain data, so that the engine can keep it and a
// proposer can learn from it, and neither needs to know how knobs are written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/digest.hpp>

namespace kernelsmith {

/// The index of each knob's value in its list.
using KnobPoint = std::vector<std::size_t>;

/// A knob as all programs of one structure have it.
struct KnobList {
  std::string name;                 ///< empty if the code gives none
  std::vector<std::string> values;  ///< at least one

  friend bool operator==(const KnobList&, const KnobList&) = default;
};

/// A program's knobs and where they stand.
struct KnobSetting {
  Digest structure;             ///< of the program without the values of its knobs
  std::vector<KnobList> knobs;  ///< in order, at least one; equal structures have equal lists
  KnobPoint point;

  friend bool operator==(const KnobSetting&, const KnobSetting&) = default;
};

/// What came of a point.
struct KnobObservation {
  KnobPoint point;
  std::optional<double> fitness;  ///< the median, higher is better; empty for a rejection
  double deviation = 0;           ///< the standard deviation of the fitness

  friend bool operator==(const KnobObservation&, const KnobObservation&) = default;
};

/// What is known about a structure when one of its programs is to be tuned.
struct KnobHistory {
  std::vector<KnobObservation> seen;  ///< in the order in which they took effect
  std::vector<KnobPoint> pending;     ///< proposed, and not judged yet
  std::size_t asked = 0;              ///< children asked for of which nothing is known yet
  /// While at most one program of the structure is known: for each knob, where the best program stands of
  /// another structure that has this knob, by name and list. If several do, the one that shares the most
  /// knobs counts.
  std::vector<std::optional<std::size_t>> elsewhere;

  friend bool operator==(const KnobHistory&, const KnobHistory&) = default;
};

}  // namespace kernelsmith
