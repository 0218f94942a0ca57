// What became of the values of knobs, structure by structure: the tuner's memory, a fold over the verdicts.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/knob_history.hpp>

namespace kernelsmith {

/// Keeps every observation. A value; not thread-safe.
class KnobMemory {
 public:
  /// A history holds so many observations, the latest ones: it is copied for each program that is tuned.
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
    std::vector<KnobList> knobs;
    std::vector<KnobObservation> seen;
    std::map<KnobPoint, std::size_t> places;  ///< in `seen`
    bool tuned = false;
  };
  std::vector<std::optional<std::size_t>> elsewhere(const KnobSetting& setting) const;

  std::map<Digest, Structure> structures_;
};

}  // namespace kernelsmith
