#include "gene_space.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace kernelsmith::bench {
namespace {

/// More than a point has parameters, so that a point of the same structure is always nearer.
constexpr std::size_t kOtherStructure = 100;
/// An evaluation is the mean of so many recorded repeats, as in the tuning benchmark.
constexpr double kRepeats = 3;

}  // namespace

GeneSpace::GeneSpace(const RecordedSpace& recorded, const std::vector<StructureParameter>& structure)
    : noise_(recorded.noise() / std::sqrt(kRepeats)) {
  const TuningSpace& space = recorded.space();
  std::vector<std::size_t> kept;
  std::size_t places = 1, structural = 0;
  for (std::size_t i = 0; i < space.dimensions().size(); ++i) {
    const TuningDimension& dimension = space.dimensions()[i];
    if (dimension.size == 1) continue;
    Parameter parameter{dimension.name, dimension.size};
    const auto named = std::ranges::find(structure, dimension.name, &StructureParameter::name);
    if (named != structure.end()) parameter.classes = std::min(named->classes, dimension.size);
    structural += parameter.classes > 0 ? 1 : 0;
    places *= dimension.size;
    parameters_.push_back(parameter);
    kept.push_back(i);
  }
  if (structural != structure.size() || kept.size() > Genes{}.size())
    throw std::invalid_argument("the space does not have the parameters of its structure");
  row_of_.assign(places, kNone);
  Rng unused(0, 0, Purpose::evaluation);
  TuningPoint point = space.first();
  for (std::uint64_t i = 0; i < space.size(); ++i, point = space.after(point)) {
    Genes genes{};
    for (std::size_t at = 0; at < kept.size(); ++at) genes[at] = static_cast<std::uint8_t>(point[kept[at]]);
    add(genes, recorded.observe(point, 0, unused).cost);
  }
  if (by_time_.empty()) throw std::invalid_argument("no point of the space works");
  std::ranges::sort(by_time_, {}, [&](std::uint32_t row) { return *times_[row]; });
  number_structures();
}

void GeneSpace::add(const Genes& genes, std::optional<double> time) {
  const auto row = static_cast<std::uint32_t>(rows_.size());
  row_of_[place(genes)] = row;
  rows_.push_back(genes);
  times_.push_back(time);
  if (time) by_time_.push_back(row);
}

void GeneSpace::number_structures() {
  std::map<std::vector<std::size_t>, std::size_t> numbers;
  for (const Genes& genes : rows_) {
    std::vector<std::size_t> classes;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i].classes > 0) classes.push_back(class_of(i, genes));
    structure_of_.push_back(numbers.emplace(classes, numbers.size()).first->second);
  }
  structures_ = numbers.size();
}

std::size_t GeneSpace::class_of(std::size_t parameter, const Genes& genes) const {
  const Parameter& one = parameters_[parameter];
  return genes[parameter] * one.classes / one.values;
}

std::size_t GeneSpace::place(const Genes& genes) const {
  std::size_t place = 0;
  for (std::size_t i = 0; i < parameters_.size(); ++i) place = place * parameters_[i].values + genes[i];
  return place;
}

std::optional<double> GeneSpace::time(const Genes& genes) const { return times_[row_of_[place(genes)]]; }

Genes GeneSpace::nearest(const Genes& genes, Rng& rng) const {
  const auto begin = static_cast<std::size_t>(rng.below(rows_.size()));
  std::size_t best = begin, least = kOtherStructure * Genes{}.size() * 2;
  for (std::size_t i = 0; i < rows_.size() && least > 1; ++i) {
    const std::size_t row = begin + i < rows_.size() ? begin + i : begin + i - rows_.size();
    std::size_t distance = 0;
    for (std::size_t at = 0; at < parameters_.size(); ++at) {
      distance += genes[at] != rows_[row][at] ? 1 : 0;
      if (parameters_[at].classes > 0 && class_of(at, genes) != class_of(at, rows_[row]))
        distance += kOtherStructure;
    }
    if (distance >= least) continue;
    best = row;
    least = distance;
  }
  return rows_[best];
}

Genes GeneSpace::random(Rng& rng) const { return rows_[static_cast<std::size_t>(rng.below(rows_.size()))]; }

Genes GeneSpace::random_slow(Rng& rng) const {
  const std::size_t half = by_time_.size() / 2;
  return rows_[by_time_[half + static_cast<std::size_t>(rng.below(by_time_.size() - half))]];
}

}  // namespace kernelsmith::bench
