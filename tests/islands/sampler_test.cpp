#include <limits>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/islands/sampler.hpp>

#include "individuals.hpp"

namespace kernelsmith {
namespace {

using testing::accepted;
using ::testing::ElementsAre;
using testing::ids;
using testing::rejected;

constexpr int kDraws = 6000;

Rng sampling_stream(std::uint64_t ticket) { return {42, ticket, Purpose::sampling}; }

Island wide_island() { return Island(Grid::create({{"a", LinearScale{0, 100, 100}}}).value()); }

/// Program k, of fitness k + 1, in cell k.
Island wide_island_of(std::uint64_t elites) {
  Island made = wide_island();
  for (std::uint64_t k = 0; k < elites; ++k) {
    made.add(accepted(k, static_cast<double>(k + 1), {{"a", static_cast<double>(k)}}));
  }
  return made;
}

MixtureSampler sampler(MixtureOptions options = {}) { return MixtureSampler::create(options).value(); }

/// How often each program was the parent in kDraws draws.
std::map<std::uint64_t, int> parents(const Sampler& policy, const Island& from) {
  std::map<std::uint64_t, int> count;
  for (std::uint64_t ticket = 0; ticket < kDraws; ++ticket) {
    Rng rng = sampling_stream(ticket);
    ++count[policy.sample(from, rng).parent->program->id.value];
  }
  return count;
}

TEST(MixtureSampler, ExploresUniformly) {
  const auto count = parents(sampler({.explore = 1, .exploit = 0, .weighted = 0}), wide_island_of(10));
  EXPECT_EQ(count.size(), 10U);
  for (const auto& [id, times] : count) EXPECT_NEAR(times, kDraws / 10, 120) << "five standard deviations";
}

TEST(MixtureSampler, ExploitsTheBestOnly) {
  const auto count = parents(sampler({.explore = 0, .exploit = 1, .weighted = 0, .elite_fraction = 0.2}),
                             wide_island_of(10));
  ASSERT_EQ(count.size(), 2U);
  EXPECT_NEAR(count.at(9), kDraws / 2, 200);
  EXPECT_NEAR(count.at(8), kDraws / 2, 200);
}

TEST(MixtureSampler, ExploitsOneEliteAtLeast) {
  const auto count = parents(sampler({.explore = 0, .exploit = 1, .weighted = 0, .elite_fraction = 0.01}),
                             wide_island_of(3));
  EXPECT_THAT(count, ElementsAre(std::pair(2, kDraws)));
}

TEST(MixtureSampler, WeighsByFitness) {
  const auto count = parents(sampler({.explore = 0, .exploit = 0, .weighted = 1}), wide_island_of(3));
  EXPECT_NEAR(count.at(0), kDraws / 6, 150);
  EXPECT_NEAR(count.at(2), kDraws / 2, 200);
}

TEST(MixtureSampler, MixesByTheShares) {
  // The best of ten: 1/10 by exploring, always by exploiting.
  const auto count = parents(sampler({.explore = 1, .exploit = 3, .weighted = 0, .elite_fraction = 0.1}),
                             wide_island_of(10));
  EXPECT_NEAR(count.at(9), kDraws * (0.25 * 0.1 + 0.75), 170);
}

TEST(MixtureSampler, DrawsTheSameFromTheSameStream) {
  const Island from = wide_island_of(60);
  std::set<std::vector<std::uint64_t>> different;
  for (std::uint64_t ticket = 0; ticket < 50; ++ticket) {
    Rng one = sampling_stream(ticket);
    Rng other = sampling_stream(ticket);
    const Selection a = sampler().sample(from, one);
    const Selection b = sampler().sample(from, other);
    EXPECT_EQ(a.parent, b.parent);
    EXPECT_EQ(a.top, b.top);
    EXPECT_EQ(a.inspirations, b.inspirations);
    EXPECT_EQ(a.failures, b.failures);
    different.insert(ids(a.inspirations));
  }
  EXPECT_GT(different.size(), 10U);
}

TEST(MixtureSampler, ShowsTheBestOthersAndNobodyTwice) {
  const Island from = wide_island_of(12);
  for (std::uint64_t ticket = 0; ticket < 200; ++ticket) {
    Rng rng = sampling_stream(ticket);
    const Selection selection = sampler({.top = 3, .inspirations = 4}).sample(from, rng);
    std::vector<std::uint64_t> best;
    for (std::uint64_t id = 12; id-- > 0 && best.size() < 3;) {
      if (id != selection.parent->program->id.value) best.push_back(id);
    }
    EXPECT_EQ(ids(selection.top), best);

    std::set<IndividualPtr> shown{selection.parent};
    shown.insert(selection.top.begin(), selection.top.end());
    shown.insert(selection.inspirations.begin(), selection.inspirations.end());
    EXPECT_EQ(shown.size(), 1U + 3U + 4U);
  }
}

TEST(MixtureSampler, ShowsFewerWhereThereAreFewer) {
  Rng rng = sampling_stream(0);
  const Selection selection = sampler({.top = 3, .inspirations = 4}).sample(wide_island_of(2), rng);
  EXPECT_EQ(selection.top.size(), 1U);
  EXPECT_TRUE(selection.inspirations.empty());
}

TEST(MixtureSampler, InspirationsAreFartherThanChance) {
  const Island from = wide_island_of(100);
  double sum = 0;
  for (std::uint64_t ticket = 0; ticket < 1000; ++ticket) {
    Rng rng = sampling_stream(ticket);
    const Selection selection = sampler({.top = 0, .inspirations = 1}).sample(from, rng);
    sum += std::abs(static_cast<double>(selection.inspirations.front()->program->id.value) -
                    static_cast<double>(selection.parent->program->id.value));
  }
  const double uniform_draw = 100.0 / 2;  // at most: the mean distance from an end of the axis
  EXPECT_GT(sum / 1000, 1.2 * uniform_draw);
}

TEST(MixtureSampler, WithoutAnEliteTheParentIsARejectionThatCameFar) {
  Island from = wide_island();
  from.add(rejected(1, Stage::compile));
  from.add(rejected(2, Stage::correctness));
  from.add(rejected(3, Stage::parse));
  const auto count = parents(sampler(), from);
  EXPECT_NEAR(count.at(2), kDraws * 6 / 11, 200);
  EXPECT_NEAR(count.at(1), kDraws * 3 / 11, 180);
  EXPECT_NEAR(count.at(3), kDraws * 2 / 11, 150);
}

TEST(MixtureSampler, OneEliteIsEnoughToLeaveTheRejections) {
  Island from = wide_island();
  from.add(rejected(1, Stage::timing));
  from.add(accepted(2, 0.01));
  EXPECT_THAT(parents(sampler(), from), ElementsAre(std::pair(2, kDraws)));
}

TEST(MixtureSampler, OnAnEmptyIslandThereIsNoParent) {
  Rng rng = sampling_stream(0);
  const Selection selection = sampler().sample(wide_island(), rng);
  EXPECT_EQ(selection.parent, nullptr);
  EXPECT_TRUE(selection.top.empty() && selection.inspirations.empty() && selection.failures.empty());
}

TEST(MixtureSampler, ShowsTheLatestFailuresFurthestStageFirst) {
  Island from = wide_island_of(1);
  from.add(rejected(10, Stage::timing));
  from.add(rejected(11, Stage::compile));
  from.add(rejected(12, Stage::correctness));
  Rng rng = sampling_stream(0);
  EXPECT_THAT(ids(sampler({.failures = 2}).sample(from, rng).failures), ElementsAre(12, 11));
}

TEST(MixtureSampler, AParentIsNotAmongItsOwnFailures) {
  Island from = wide_island();
  from.add(rejected(1, Stage::compile));
  Rng rng = sampling_stream(0);
  EXPECT_TRUE(sampler().sample(from, rng).failures.empty());
}

TEST(MixtureSampler, RefusesSharesThatAreNone) {
  EXPECT_FALSE(MixtureSampler::create({.explore = 0, .exploit = 0, .weighted = 0}));
  EXPECT_FALSE(MixtureSampler::create({.explore = -0.1}));
  EXPECT_FALSE(MixtureSampler::create({.weighted = std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(MixtureSampler::create({.elite_fraction = 0}));
  EXPECT_FALSE(MixtureSampler::create({.elite_fraction = 1.1}));
}

}  // namespace
}  // namespace kernelsmith
