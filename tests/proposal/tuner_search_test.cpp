// Whether the tuner finds good points: a loop around it on a rugged landscape with the shape of a tiled
// kernel's, against random search with the same number of evaluations.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <kernelsmith/code/knob_setting.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/proposal/tuner.hpp>

#include "individuals.hpp"
#include "sources.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kEvaluations = 80;
constexpr std::size_t kSeeds = 12;

Source seed_source() {
  return cpp(
      "constexpr int kTileI = 8;      // @tune 8 16 32 64 128\n"
      "constexpr int kTileJ = 8;      // @tune 8 16 32 64 128\n"
      "constexpr int kTileK = 8;      // @tune 8 16 32 64 128\n"
      "constexpr int kUnroll = 1;     // @tune 1 2 4 8\n"
      "constexpr auto kOrder = ijk;   // @tune ijk ikj kij\n"
      "constexpr bool kPack = false;  // @tune false true\n");  // 3,000 points
}

// The speed at a point: a ridge where the tiles fill a cache, a penalty for spilling registers, a loop order
// that only pays together with unrolling, and per-point ruggedness of 10 %.
double speed_at(const std::vector<std::size_t>& point) {
  const auto at = [&](std::size_t knob) { return static_cast<double>(point[knob]); };
  const double footprint = at(0) + at(1) + at(2) - 6;
  double speed = std::exp(-0.12 * footprint * footprint) * std::exp(-0.15 * std::pow(at(0) - 1, 2)) *
                 std::exp(-0.15 * std::pow(at(1) - 3, 2));
  const std::array order_gain{0.35, 0.7, 0.5};
  speed *= order_gain[point[4]] * (point[4] == 1 ? 1 + 0.15 * at(3) : 1 + 0.03 * at(3));
  if (at(3) + at(0) > 5) speed *= 0.4;
  if (point[5] == 1) speed *= footprint > 0 ? 1.25 : 0.9;
  std::uint64_t code = 0;
  for (const std::size_t value : point) code = code * 7 + value;
  return speed * (0.9 + 0.1 * Rng(1, code, Purpose::evaluation).uniform());
}

double speed_of(const Source& source) {
  std::vector<std::size_t> point;
  for (const Knob& knob : find_knobs(source).value()) point.push_back(knob.current);
  return speed_at(point);
}

double best_of_all() {
  double best = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    best = std::max(best, speed_at({i % 5, i / 5 % 5, i / 25 % 5, i / 125 % 4, i / 500 % 3, i / 1500}));
  }
  return best;
}

double random_search(std::uint64_t seed) {
  Rng rng(seed, 0, Purpose::sampling);
  double best = 0;
  for (std::size_t i = 0; i < kEvaluations; ++i) {
    best = std::max(
        best, speed_at({rng.below(5), rng.below(5), rng.below(5), rng.below(4), rng.below(3), rng.below(2)}));
  }
  return best;
}

// Parents are the best, or any of the ten best, as a run has them.
double tuned_search(std::uint64_t seed) {
  const auto fitness = [](const IndividualPtr& i) { return i->evaluation.metrics()->fitness().median; };
  std::vector<IndividualPtr> ranked{individual(0, seed_source(), speed_of(seed_source()))};
  KnobHistory history;
  history.seen.push_back({knob_setting(seed_source())->point, fitness(ranked.front()), 0});
  for (std::uint64_t ticket = 1; ticket < kEvaluations; ++ticket) {
    Rng rng(seed, ticket, Purpose::sampling);
    auto request =
        tune_request(ticket, rng.chance(0.4) ? ranked.front()
                                             : ranked[rng.below(std::min<std::size_t>(10, ranked.size()))]);
    request.seed = seed;
    request.selection.knobs = std::make_shared<const KnobHistory>(history);
    const Source child = tune(request).child()->source;
    const IndividualPtr born = individual(ticket, child, speed_of(child));
    history.seen.push_back({knob_setting(child)->point, fitness(born), 0});
    ranked.insert(std::ranges::upper_bound(ranked, fitness(born), std::greater<>{}, fitness), born);
  }
  return fitness(ranked.front());
}

TEST(TunerSearch, ComesWithinTenPercentOfTheBestAndBeatsRandomSearch) {
  const double best = best_of_all();
  double tuned = 0;
  double random = 0;
  std::size_t close = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const double reached = tuned_search(seed) / best;
    tuned += reached / kSeeds;
    random += random_search(seed) / best / kSeeds;
    close += reached >= 0.9;
  }
  RecordProperty("tuned", std::to_string(tuned));
  RecordProperty("random", std::to_string(random));
  RecordProperty("close", std::to_string(close));
  EXPECT_GE(close, kSeeds * 9 / 10);
  EXPECT_GE(tuned, 0.95);
  EXPECT_GT(tuned, random + 0.05);
}

}  // namespace
}  // namespace kernelsmith
