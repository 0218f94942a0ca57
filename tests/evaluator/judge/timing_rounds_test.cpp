// The protocol: which calls are made, where, in which order, and how many.
#include <cmath>

#include "fake_host.hpp"

namespace kernelsmith::fake {
namespace {

/// Times that scatter by the fraction, always the same way.
KernelPtr scattering(double call_us, double by) {
  auto made = kernel();
  made->call_us = [=](const Call& call) {
    return call_us * (1 + by * std::sin(static_cast<double>(call.batch * call.batch)));
  };
  return made;
}

std::size_t samples_of(const Result<Evaluation>& evaluation) {
  return evaluation && evaluation->accepted() ? evaluation->report().over_yardstick->samples : 0;
}

/// All the sets that a kernel was shown.
std::vector<InputRecipe> shown(const Bench& bench, const KernelPtr& to) {
  std::vector<InputRecipe> recipes;
  for (const Event& event : bench.host->events)
    if (event.kernel == to.get()) recipes.insert(recipes.end(), event.recipes.begin(), event.recipes.end());
  return recipes;
}

std::size_t met_twice(const std::vector<InputRecipe>& recipes) {
  std::size_t twice = 0;
  for (std::size_t i = 0; i < recipes.size(); ++i)
    twice += static_cast<std::size_t>(
        std::count(recipes.begin(), recipes.begin() + static_cast<long>(i), recipes[i]));
  return twice;
}

TEST(Rounds, EveryoneIsOpenedAnewInTheNextPlace) {
  Bench bench;
  auto candidate = kernel();
  ASSERT_EQ(samples_of(bench.evaluate(candidate)), 8U);
  EXPECT_THAT(bench.places(candidate), ElementsAre(0, 0, 1)) << "the check, and two rounds";
  EXPECT_THAT(bench.places(bench.baseline), ElementsAre(1, 0));
}

TEST(Rounds, PlacesRotateInADuelToo) {
  Bench bench;
  auto candidate = kernel(), rival = kernel();
  ASSERT_EQ(samples_of(bench.evaluate(Bench::duel(candidate, rival))), 12U);
  EXPECT_THAT(bench.places(candidate), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(bench.places(bench.baseline), ElementsAre(1, 2, 0));
  EXPECT_THAT(bench.places(rival), ElementsAre(0, 2, 0, 1));
}

TEST(Rounds, TheOrderOfThePlayersAlternates) {
  Bench bench;
  auto candidate = kernel();
  ASSERT_TRUE(bench.evaluate(candidate));
  std::string order;
  for (const Event& event : bench.host->events)
    if (event.shape == 0 && !event.recipes.empty()) order += event.kernel == candidate.get() ? 'A' : 'Y';
  EXPECT_EQ(order,
            "AA"
            "AY"
            "AYYAAYYA"
            "AY"
            "AYYAAYYA")
      << "check, then warm-up and samples twice";
}

TEST(Rounds, AllPlayersGetTheSameSets) {
  Bench bench;
  auto candidate = kernel(), rival = kernel();
  ASSERT_TRUE(bench.evaluate(Bench::duel(candidate, rival)));
  auto of_candidate = bench.batches(candidate), of_yardstick = bench.batches(bench.baseline),
       of_rival = bench.batches(rival);
  of_candidate.erase(of_candidate.begin(), of_candidate.begin() + 2);
  of_rival.erase(of_rival.begin(), of_rival.begin() + 2);
  ASSERT_EQ(of_candidate.size(), of_yardstick.size());
  ASSERT_EQ(of_candidate.size(), of_rival.size());
  for (std::size_t i = 0; i < of_candidate.size(); ++i) {
    EXPECT_EQ(of_candidate[i].recipes, of_yardstick[i].recipes);
    EXPECT_EQ(of_candidate[i].recipes, of_rival[i].recipes);
  }
}

TEST(Rounds, NoSetIsShownTwice) {
  for (const double call_us : {10.0, 100.0, 1000.0}) {
    Bench bench;
    bench.task = task(2);
    bench.baseline = kernel(call_us, "baseline");
    auto candidate = scattering(call_us, 0.1), rival = kernel(call_us);
    for (const RunRequest& request :
         {Bench::search(candidate), Bench::careful(candidate), Bench::duel(candidate, rival)}) {
      ASSERT_TRUE(bench.evaluate(request));
      EXPECT_EQ(met_twice(shown(bench, candidate)), 0U) << call_us;
      EXPECT_EQ(met_twice(shown(bench, rival)), 0U) << call_us;
    }
  }
}

TEST(Rounds, SetsOfTheCheckAreNeverTimed) {
  Bench bench;
  auto first = kernel(), second = kernel();
  ASSERT_TRUE(bench.evaluate(Bench::careful(first)));
  const auto checked = bench.batches(first);
  ASSERT_TRUE(bench.evaluate(Bench::careful(second)));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(bench.batches(second)[i].recipes, checked[i].recipes) << "the same in every evaluation";
    const auto all = shown(bench, second);
    EXPECT_EQ(std::ranges::count(all, checked[i].recipes[0]), 1);
  }
}

TEST(Rounds, EveryEvaluationHasAnOrderOfItsOwn) {
  Bench bench;
  auto first = kernel(), second = kernel();
  ASSERT_TRUE(bench.evaluate(first));
  const auto of_first = shown(bench, first);
  ASSERT_TRUE(bench.evaluate(second));
  EXPECT_NE(of_first, shown(bench, second));
}

TEST(Rounds, AConfirmationDrawsNewSets) {
  Bench bench;
  auto first = kernel(), second = kernel();
  ASSERT_TRUE(bench.evaluate(first));
  const auto before = shown(bench, first);
  ASSERT_TRUE(bench.evaluate(Bench::confirmation(second)));
  for (const InputRecipe& recipe : shown(bench, second)) EXPECT_EQ(std::ranges::count(before, recipe), 0);
}

TEST(Rounds, TwelveSetsGiveEightSamples) {
  Bench bench;
  bench.sets = 12;
  EXPECT_EQ(samples_of(bench.evaluate(kernel())), 8U);
  EXPECT_EQ(samples_of(bench.evaluate(Bench::careful(scattering(1000, 0.3)))), 8U) << "used up";
}

TEST(Rounds, TwelveSetsAreSharedOutEvenlyInADuel) {
  Bench bench;
  bench.sets = 12;
  auto rival = kernel();
  EXPECT_EQ(samples_of(bench.evaluate(Bench::duel(kernel(), rival))), 7U) << "2 + 2 + 3";
}

TEST(Stopping, ASearchTakesEightSamplesOrSixteen) {
  Bench bench;
  EXPECT_EQ(samples_of(bench.evaluate(scattering(1000, 0.001))), 8U);
  EXPECT_EQ(samples_of(bench.evaluate(scattering(1000, 0.1))), 16U);
}

TEST(Stopping, WithCareItGoesOn) {
  Bench bench;
  bench.sets = 256;
  EXPECT_EQ(samples_of(bench.evaluate(Bench::careful(scattering(1000, 0.001)))), 16U);
  EXPECT_EQ(samples_of(bench.evaluate(Bench::careful(scattering(1000, 0.1)))), 64U);
  EXPECT_EQ(samples_of(bench.evaluate(Bench::careful(scattering(2000, 0.1)))), 64U) << "clearly worse or not";
}

TEST(Batches, AreAsLongAsTheSetsAllow) {
  Bench bench;
  bench.sets = 256;
  bench.baseline = kernel(8, "baseline");
  auto candidate = kernel(8);
  ASSERT_TRUE(bench.evaluate(candidate));
  std::string calls;
  for (const Event& event : bench.batches(candidate)) calls += std::to_string(event.recipes.size());
  EXPECT_EQ(calls,
            "11"
            "1"
            "11111111"
            "5555555555"
            "1"
            "11111111"
            "5555555555")
      << "the check; a warm-up, lone samples, and five samples of two batches of 40 us, twice";
}

TEST(Batches, AreSizedByTheFasterPlayer) {
  Bench bench;
  bench.sets = 256;
  bench.baseline = kernel(80, "baseline");
  auto candidate = kernel(8);
  ASSERT_TRUE(bench.evaluate(candidate));
  EXPECT_EQ(bench.batches(candidate).back().recipes.size(), 5U);
}

TEST(Check, CoversAllSetsOfACheckShapeAndTwoOfATimedOne) {
  Bench bench;
  auto candidate = kernel();
  ASSERT_TRUE(bench.evaluate(candidate));
  const std::size_t checked = shown(bench, candidate).size() - 2 - 2 - 8;
  EXPECT_GE(checked, 2U);
  EXPECT_LE(checked, 16U);
  EXPECT_EQ(bench.host->events[1].shape, 1U) << "the odd shape comes first";
  EXPECT_EQ(bench.batches(candidate, 1).size(), 2U);
}

TEST(Check, LongCallsAreMadeWithTwoSets) {
  Bench bench;
  auto candidate = kernel();
  candidate->call_us = [](const Call& call) { return call.shape == 1 ? 20e3 : 1000.0; };
  ASSERT_TRUE(bench.evaluate(candidate));
  std::size_t calls = 0;
  for (const Event& event : bench.batches(candidate, 1)) calls += event.recipes.size();
  EXPECT_EQ(calls, 2U);
}

}  // namespace
}  // namespace kernelsmith::fake
