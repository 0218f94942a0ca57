// A recorded space as programs of the bench see it: points with a time and a structure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/core/rng.hpp>

#include "tuning_cache.hpp"

namespace kernelsmith::bench {

/// The number of each parameter's value. The places behind the last parameter are 0.
using Genes = std::array<std::uint8_t, 16>;

/// A parameter that belongs to the structure of a program.
struct StructureParameter {
  std::string name;
  std::size_t classes;  ///< its values, in their order, are cut into so many classes of the same size
};

class GeneSpace {
 public:
  struct Parameter {
    std::string name;
    std::size_t values = 1;
    std::size_t classes = 0;  ///< 0: it does not belong to the structure
  };

  /// Parameters with one value are left out. Throws std::invalid_argument for a parameter of the structure
  /// that the space lacks, and for a space without a point that works.
  GeneSpace(const RecordedSpace& recorded, const std::vector<StructureParameter>& structure);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::size_t class_of(std::size_t parameter, const Genes& genes) const;

  bool recorded(const Genes& genes) const { return row_of_[place(genes)] != kNone; }
  /// Empty if the point failed. Requires a recorded point.
  std::optional<double> time(const Genes& genes) const;
  /// The recorded point that differs least from `genes`; a difference in the structure counts most. If
  /// there are several, it is the first after a random place.
  Genes nearest(const Genes& genes, Rng& rng) const;
  Genes random(Rng& rng) const;
  /// A point that works and is not among the faster half of those.
  Genes random_slow(Rng& rng) const;

  /// The number of the structure, from 0 to structures() - 1: those that have a point.
  std::size_t structure(const Genes& genes) const { return structure_of_[row_of_[place(genes)]]; }
  std::size_t structures() const { return structures_; }

  double optimum() const { return by_time_.empty() ? 0 : *times_[by_time_.front()]; }
  double median() const { return *times_[by_time_[by_time_.size() / 2]]; }
  /// Standard deviation of one evaluation's time, divided by the time.
  double noise() const { return noise_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::size_t place(const Genes& genes) const;
  void add(const Genes& genes, std::optional<double> time);
  void number_structures();

  std::vector<Parameter> parameters_;
  double noise_ = 0;
  std::vector<std::uint32_t> row_of_;  ///< by place
  std::vector<Genes> rows_;
  std::vector<std::optional<double>> times_;
  std::vector<std::uint32_t> by_time_;  ///< the rows that work, the fastest first
  std::vector<std::size_t> structure_of_;
  std::size_t structures_ = 0;
};

}  // namespace kernelsmith::bench
