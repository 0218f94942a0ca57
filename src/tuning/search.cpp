#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include <kernelsmith/tuning/search.hpp>

#include "forest.hpp"
#include "gaussian_process.hpp"

namespace kernelsmith {
namespace {

using detail::Features;
using detail::Forecast;
using detail::Samples;

constexpr std::size_t kElites = 5;       // number of best points whose neighbours are candidates
constexpr std::size_t kJumps = 100;      // candidates that differ from an elite in up to four dimensions
constexpr std::size_t kStrangers = 600;  // candidates from anywhere
// Limit of samples for a model. The cost of a model grows with their third power.
constexpr std::size_t kMostSamples = 256;
constexpr std::size_t kMostToFit = 64;  // lower limit for fitting the lengths, because a fit uses the samples
                                        // many times
constexpr double kBoldest = 2;          // how optimistic the forest is, in deviations below the mean

// Costs as logarithms. A rejection counts as much as the worst cost.
class Record {
 public:
  Record(const TuningSpace& space, std::span<const TuningObservation> observations) {
    double worst = -std::numeric_limits<double>::infinity();
    for (const TuningObservation& seen : observations) {
      if (!space.contains(seen.point)) continue;
      known_.insert(seen.point);
      if (seen.pending) continue;
      rows_.push_back({&seen, seen.cost ? std::log(*seen.cost) : 0});
      if (seen.cost) worst = std::max(worst, rows_.back().cost);
    }
    accepted_ = std::isfinite(worst);
    for (Row& row : rows_) {
      if (!row.seen->cost) row.cost = worst;
    }
    std::ranges::stable_sort(rows_, {}, [](const Row& row) { return std::pair(!row.seen->cost, row.cost); });
  }

  bool knows(const TuningPoint& point) const { return known_.contains(point); }
  std::size_t points() const { return known_.size(); }
  std::size_t judged() const { return rows_.size(); }
  bool accepted() const { return accepted_; }  ///< at least one point was accepted
  std::size_t elites() const {
    const auto n = std::ranges::count_if(rows_, [](const Row& row) { return row.seen->cost.has_value(); });
    return std::min(kElites, static_cast<std::size_t>(n));
  }
  const TuningPoint& elite(std::size_t i) const { return rows_[i].seen->point; }

  // The samples for a model: half of them are the best, the others are drawn at random.
  Samples samples(const detail::FeatureMap& map, std::size_t most, Rng& rng) const {
    std::vector<std::size_t> chosen(rows_.size());
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    if (chosen.size() > most) {
      for (std::size_t i = most / 2; i < most; ++i) {
        std::swap(chosen[i], chosen[i + static_cast<std::size_t>(rng.below(chosen.size() - i))]);
      }
      chosen.resize(most);
    }
    Samples samples;
    for (const std::size_t i : chosen) {
      samples.points.push_back(map(rows_[i].seen->point));
      samples.targets.push_back(rows_[i].cost);
      samples.noise.push_back(rows_[i].seen->noise);
    }
    standardise(samples);
    return samples;
  }

 private:
  struct Row {
    const TuningObservation* seen;
    double cost;
  };

  static void standardise(Samples& samples) {
    const auto n = static_cast<double>(samples.targets.size());
    const double mean = std::accumulate(samples.targets.begin(), samples.targets.end(), 0.0) / n;
    double squares = 0;
    for (double& target : samples.targets) {
      target -= mean;
      squares += target * target;
    }
    const double deviation = std::sqrt(squares / n) + 1e-9;
    for (double& target : samples.targets) target /= deviation;
    for (double& noise : samples.noise) noise = std::pow(noise / deviation, 2);
  }

  std::vector<Row> rows_;  // the best first, rejections last
  TuningSpace::Set known_;
  bool accepted_ = false;
};

TuningPoint unknown_from(TuningPoint point, const TuningSpace& space, const Record& record) {
  while (record.knows(point)) point = space.after(point);
  return point;
}

// The points that are being tried are the first unknown ones, so these are skipped.
std::optional<TuningPoint> next_in_order(const TuningSpace& space, const Record& record, std::size_t ahead) {
  if (space.size() - record.points() <= ahead) return std::nullopt;
  TuningPoint point = unknown_from(space.first(), space, record);
  for (; ahead > 0; --ahead) point = unknown_from(space.after(point), space, record);
  return point;
}

std::vector<TuningPoint> candidates(const TuningSpace& space, const Record& record, Rng& rng) {
  std::vector<TuningPoint> result;
  const auto offer = [&](TuningPoint point) {
    if (space.contains(point) && !record.knows(point)) result.push_back(std::move(point));
  };
  const std::size_t elites = record.elites();
  for (std::size_t i = 0; i < elites; ++i) {
    for (TuningPoint& near : space.neighbours(record.elite(i))) offer(std::move(near));
  }
  const auto& dimensions = space.dimensions();
  for (std::size_t i = 0; i < kJumps; ++i) {
    TuningPoint point = record.elite(static_cast<std::size_t>(rng.below(elites)));
    for (std::uint64_t changes = 2 + rng.below(3); changes > 0; --changes) {
      const auto dimension = static_cast<std::size_t>(rng.below(dimensions.size()));
      point[dimension] = static_cast<std::size_t>(rng.below(dimensions[dimension].size));
    }
    offer(std::move(point));
  }
  for (std::size_t i = 0; i < kStrangers; ++i) offer(space.random(rng));
  if (result.empty()) result.push_back(unknown_from(space.random(rng), space, record));
  return result;
}

double expected_improvement(const Forecast& forecast, double best) {
  const double z = (best - forecast.mean) / forecast.deviation;
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return (best - forecast.mean) * below + forecast.deviation * density;
}

// The best candidate after the `ahead` best ones; of equals, the first. The last candidate if there are too
// few.
template <class Worth>
TuningPoint best_of(std::vector<TuningPoint> candidates, std::size_t ahead, const detail::FeatureMap& map,
                    const Worth& worth) {
  std::vector<std::pair<double, std::size_t>> ranked;
  TuningSpace::Set met;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (met.insert(candidates[i]).second) {
      const double value = worth(map(candidates[i]));
      ranked.emplace_back(std::isnan(value) ? std::numeric_limits<double>::infinity() : -value, i);
    }
  const auto chosen = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(ahead, ranked.size() - 1));
  std::ranges::nth_element(ranked, chosen);
  return std::move(candidates[chosen->second]);
}

TuningPoint by_process(const TuningSpace& space, const Record& record, std::size_t ahead, Rng& rng) {
  const detail::FeatureMap map(space);
  const auto few = record.samples(map, kMostToFit, rng);
  const auto lengths = detail::fit_lengths(few, map.own(), rng);
  const auto samples = record.samples(map, kMostSamples, rng);
  const detail::GaussianProcess process(samples, lengths);
  return best_of(candidates(space, record, rng), ahead, map, [&](const Features& features) {
    return expected_improvement(process.at(features), process.lowest());
  });
}

TuningPoint by_forest(const TuningSpace& space, const Record& record, std::size_t ahead, Rng& rng) {
  const detail::FeatureMap map(space);
  const auto samples = record.samples(map, kMostSamples, rng);
  const detail::Forest forest(samples, map.own(), rng);
  const double boldness = kBoldest * rng.uniform();
  return best_of(candidates(space, record, rng), ahead, map, [&](const Features& features) {
    const Forecast forecast = forest.at(features);
    return boldness * forecast.deviation - forecast.mean;
  });
}

}  // namespace

std::optional<TuningPoint> next_point(const TuningSpace& space,
                                      std::span<const TuningObservation> observations, Rng& rng,
                                      const TuningOptions& options) {
  const Record record(space, observations);
  if (record.points() >= space.size()) return std::nullopt;
  if (options.exhaustive) return next_in_order(space, record, options.ahead);
  if (record.judged() < options.start || !record.accepted()) {
    return unknown_from(space.random(rng), space, record);
  }
  return rng.chance(0.5) ? by_process(space, record, options.ahead, rng)
                         : by_forest(space, record, options.ahead, rng);
}

}  // namespace kernelsmith
