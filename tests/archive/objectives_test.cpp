#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/archive/objectives.hpp>

#include "individuals.hpp"

namespace kernelsmith {
namespace {

using testing::accepted;
using ::testing::HasSubstr;

using Rule = ObjectiveRule;

const std::vector<Objective> kSpeedThenMemory = {{"fitness"}, {"memory", true}};

Objectives made(Rule rule, std::vector<Objective> list = kSpeedThenMemory) {
  return Objectives::create(std::move(list), rule).value();
}

Metrics metrics(Measurement fitness, std::map<std::string, double> features) {
  return Metrics::create(std::move(fitness), std::move(features)).value();
}

Metrics exactly(double fitness, double memory) {
  return metrics(Measurement::exact(fitness), {{"memory", memory}});
}

/// A tenth to either side.
Metrics about(double fitness, double memory) {
  return metrics({fitness, fitness - 0.1, fitness + 0.1, 9, "x"}, {{"memory", memory}});
}

std::string refusal(const std::vector<Objective>& list) {
  const auto objectives = Objectives::create(list, Rule::pareto);
  return objectives ? "" : objectives.error().message;
}

TEST(Objectives, AreTheFitnessAloneByDefault) {
  const Objectives objectives;
  EXPECT_FALSE(objectives.several() || objectives.pareto() || objectives.lexicographic());
  EXPECT_EQ(made(Rule::lexicographic, {{"fitness"}}), objectives);
}

TEST(Objectives, SayWhatIsWrongWithAList) {
  EXPECT_THAT(refusal({}), HasSubstr("no objective"));
  EXPECT_THAT(refusal({{"memory", true}}), HasSubstr("the speedup is not among them"));
  EXPECT_THAT(refusal({{"fitness"}, {"memory", true}, {"memory", false}}),
              HasSubstr("'memory' is named twice"));
  EXPECT_THAT(refusal({{"fitness", true}, {"memory"}}), HasSubstr("higher fitness"));
  EXPECT_THAT(refusal({{"fitness"}, {""}}), HasSubstr("no name"));
  EXPECT_THAT(refusal({{"fitness"}, {"a"}, {"b"}, {"c"}, {"d"}}), HasSubstr("more than 4"));
}

TEST(Objectives, TheirTextReadsBack) {
  for (const Rule rule : {Rule::pareto, Rule::lexicographic}) {
    const Objectives objectives = made(rule, {{"a \"name\"", true}, {"fitness"}, {"b"}});
    EXPECT_EQ(Objectives::from_text(objectives.to_text()).value(), objectives);
  }
  EXPECT_EQ(made(Rule::pareto).to_text(), "pareto max \"fitness\" min \"memory\"");
  for (const char* const text :
       {"", "best max \"fitness\"", "pareto", "pareto most \"fitness\"", "pareto max"})
    EXPECT_FALSE(Objectives::from_text(text)) << text;
}

TEST(Objectives, WhatIsNotReportedIsTheWorst) {
  const Objectives objectives = made(Rule::pareto, {{"fitness"}, {"memory", true}, {"share"}});
  const Metrics none = metrics(Measurement::exact(1), {}),
                all = metrics(Measurement::exact(1), {{"memory", 1e9}, {"share", 0}});
  EXPECT_EQ(objectives.reported(1, none), std::nullopt);
  EXPECT_TRUE(objectives.dominates(all, none));
  EXPECT_FALSE(objectives.dominates(none, all));
  EXPECT_FALSE(objectives.dominates(none, none));
}

TEST(Objectives, ATieWithinTheNoiseIsDecidedByTheNextOne) {
  const Objectives objectives = made(Rule::lexicographic);
  const auto decide = [&](const Metrics& challenger, const Metrics& incumbent) {
    return objectives.decide(challenger, incumbent);
  };
  EXPECT_EQ(decide(about(2, 9), about(1, 1))->objective, 0U);
  EXPECT_EQ(decide(about(2, 9), about(1, 1))->verdict, Comparison::better);
  EXPECT_EQ(decide(about(1, 1), about(2, 9))->verdict, Comparison::worse);
  EXPECT_EQ(decide(about(1.05, 9), about(1, 1))->objective, 1U);
  EXPECT_EQ(decide(about(1.05, 9), about(1, 1))->verdict, Comparison::worse);
  EXPECT_EQ(decide(about(0.95, 1), about(1, 9))->verdict, Comparison::better);
  EXPECT_FALSE(decide(about(1.05, 1), about(1, 1)));
  EXPECT_EQ(decide(exactly(1, 1), exactly(1, 2))->verdict, Comparison::better) << "equal numbers tie too";
  EXPECT_EQ(decide(exactly(1, 1), exactly(1.001, 2))->verdict, Comparison::worse);
}

TEST(Objectives, TheFirstMayBeAFeature) {
  const Objectives objectives = made(Rule::lexicographic, {{"memory", true}, {"fitness"}});
  EXPECT_EQ(objectives.decide(about(1, 1), about(9, 2))->verdict, Comparison::better);
  EXPECT_EQ(objectives.decide(about(9, 1), about(1, 1))->objective, 1U);
}

IndividualPtr individual(std::uint64_t id, const Metrics& of) {
  return accepted(id, of.fitness(), of.features());
}

TEST(Objectives, TheBestIsTheFittestOrTheFirstInOrder) {
  const std::vector<IndividualPtr> all = {individual(1, about(2, 9)), individual(2, about(1.95, 1)),
                                          individual(3, about(1.9, 1)), individual(4, about(1, 0))};
  EXPECT_EQ(Objectives().best_of(all), all[0]);
  EXPECT_EQ(made(Rule::pareto).best_of(all), all[0]);
  EXPECT_EQ(made(Rule::lexicographic).best_of(all), all[1]) << "ties with the fastest, least memory, fitter";
  EXPECT_EQ(made(Rule::lexicographic, {{"memory", true}, {"fitness"}}).best_of(all), all[3]);
  EXPECT_EQ(Objectives().best_of({}), nullptr);
  const auto twin = individual(9, about(2, 9));
  EXPECT_EQ(Objectives().best_of({twin, all[0]}), all[0]) << "of equals the older";
}

TEST(ParetoFront, HoldsWhatNothingDominates) {
  const std::vector<IndividualPtr> all = {individual(1, exactly(3, 9)), individual(2, exactly(2, 9)),
                                          individual(3, exactly(2, 4)), individual(4, exactly(2, 4)),
                                          individual(5, exactly(1, 5))};
  EXPECT_EQ(pareto_front(made(Rule::pareto), all), (std::vector{all[0], all[2], all[3]}));
}

}  // namespace
}  // namespace kernelsmith
