// A recorded tuning space: Kernel Tuner's cache files (cachefile JSON) served as a function.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/tuning/search.hpp>

namespace kernelsmith::bench {

class RecordedSpace {
 public:
  /// Reads the text of a cache file. `bad_input` if it is not valid.
  static Result<RecordedSpace> read(const std::string& text);

  const TuningSpace& space() const { return space_; }
  double optimum() const { return optimum_; }  ///< the lowest recorded mean
  /// The median over the points of the standard deviation of one recorded repeat, divided by the mean.
  double noise() const { return noise_; }
  /// Whether the point's recorded mean is within 5 % of the optimum.
  bool near_optimum(const TuningPoint& point) const;
  /// The recorded mean if `draws` is 0, or else the mean of as many of the recorded repeats.
  TuningObservation observe(const TuningPoint& point, std::size_t draws, Rng& rng) const;

 private:
  struct Row {
    std::optional<double> mean;  ///< empty if the point failed
    std::vector<double> repeats;
  };
  explicit RecordedSpace(TuningSpace space) : space_(std::move(space)) {}

  TuningSpace space_;
  std::unordered_map<TuningPoint, Row, TuningSpace::Hash> rows_;
  double optimum_ = 0;
  double noise_ = 0;
};

}  // namespace kernelsmith::bench
