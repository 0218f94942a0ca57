// The tuner's memory: the results of knob values for each structure, collected from the verdicts.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/knob_history.hpp>

namespace kernelsmith {

/// Keeps every observation. A value; not thread-safe.
class KnobMemory {
 public:
  /// A history keeps at most this many observations; older ones are dropped.
  static constexpr std::size_t kMostObservations = 65'536;

  /// Records a program's result. A point that is already known gets the new verdict.
  void note(const KnobSetting& setting, std::optional<double> fitness, double deviation);

  /// The history of the setting's structure: `seen` and `elsewhere`.
  KnobHistory history(const KnobSetting& setting) const;

  /// Returns true only on the first call for a structure.
  bool begin_tuning(const Digest& structure);

  /// The canonical text of the memory.
  std::string to_text() const;

 private:
  struct Structure {
    KnobObservations seen;
    std::map<KnobPoint, std::size_t> places;  ///< the place of each point in `seen`
    /// The index in `seen` of the best observation (of equals, the first); empty if all were rejected.
    std::optional<std::size_t> best;
    bool tuned = false;
  };
  /// The structures that have the same knobs. Most programs of a run have the same knobs.
  struct Kind {
    std::vector<KnobList> knobs;
    /// Structures that have a best. They are sorted by its negated fitness, so that the highest comes first;
    /// equals by digest.
    std::set<std::pair<double, Digest>> ranked;
  };
  std::vector<std::optional<std::size_t>> elsewhere(const KnobSetting& setting) const;

  std::map<Digest, Structure> structures_;
  std::map<Digest, Kind> kinds_;  ///< keyed by the digest of the knobs
};

}  // namespace kernelsmith
