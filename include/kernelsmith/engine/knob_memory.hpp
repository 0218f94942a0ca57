// What became of the values of knobs, structure by structure: the tuner's memory, a fold over the verdicts.
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
  /// A history holds so many observations, the latest ones.
  static constexpr std::size_t kMostObservations = 65'536;

  /// Notes what came of a program. A point that was noted before has a new verdict.
  void note(const KnobSetting& setting, std::optional<double> fitness, double deviation);

  /// What is known about the setting's structure: `seen` and `elsewhere`.
  KnobHistory history(const KnobSetting& setting) const;

  /// True the first time that it is asked about a structure.
  bool begin_tuning(const Digest& structure);

  /// Canonical text of all that is known, byte for byte.
  std::string to_text() const;

 private:
  struct Structure {
    KnobObservations seen;
    std::map<KnobPoint, std::size_t> places;  ///< in `seen`
    std::optional<std::size_t> best;          ///< likewise: the first of the best; empty if all were rejected
    bool tuned = false;
  };
  /// The structures that have the same knobs: programs of a run mostly do.
  struct Kind {
    std::vector<KnobList> knobs;
    /// Those with a best, which stands before its place: the highest first (negated), of equals by digest.
    std::set<std::pair<double, Digest>> ranked;
  };
  std::vector<std::optional<std::size_t>> elsewhere(const KnobSetting& setting) const;

  std::map<Digest, Structure> structures_;
  std::map<Digest, Kind> kinds_;  ///< by the digest of their knobs
};

}  // namespace kernelsmith
