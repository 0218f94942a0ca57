// The bandit by itself: what it asks for, given what was tried before.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include <kernelsmith/engine/bandit.hpp>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

const OperatorChoice kEditing{Operator::edit, "a"}, kRewriting{Operator::rewrite, "a"};

Selection accepted_parent() { return {evaluated(score_of(1)), {}, {}, {}}; }

std::string refusal_of(std::vector<OperatorChoice> arms) {
  const auto bandit = BanditOperators::create(std::move(arms));
  return bandit ? "accepted" : bandit.error().where;
}

/// A world in which an arm's child is better with some chance, at some price.
struct World {
  std::function<double(const OperatorChoice& arm, int round)> chance;
  std::function<double(const OperatorChoice& arm)> usd = [](const auto&) { return 1.0; };
};

/// Asks the bandit round after round, and answers as the world would.
struct Play {
  Play(std::vector<OperatorChoice> among, std::uint64_t with_seed, bool pays_money = false)
      : arms(std::move(among)), seed(with_seed), pays(pays_money) {}

  std::vector<OperatorChoice> arms;
  std::uint64_t seed;
  bool pays;
  ArmRecord record{};
  int round = 0;

  /// How often each arm was chosen in so many rounds.
  std::map<OperatorChoice, int> rounds(int count, const World& world) {
    const auto bandit = BanditOperators::create(arms).value();
    const Selection selection = accepted_parent();
    std::map<OperatorChoice, int> chosen;
    for (const int end = round + count; round < end; ++round) {
      Rng choosing(seed, static_cast<std::uint64_t>(round), Purpose::operators);
      Rng outcome(seed, static_cast<std::uint64_t>(round), Purpose::evaluation);
      const auto arm = bandit.choose({.selection = selection, .arms = record, .pays = pays}, choosing);
      const double better = outcome.chance(world.chance(arm, round)) ? 1 : 0;
      record.add(arm, {.tries = 1, .accepted = 1, .better = better, .usd = world.usd(arm)});
      ++chosen[arm];
    }
    return chosen;
  }
};

/// The mean over 20 runs of the share that an arm has in `count` rounds after `before` others.
double share_of(const OperatorChoice& arm, const std::vector<OperatorChoice>& arms, const World& world,
                int before, int count, bool pays = false) {
  constexpr int kRuns = 20;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    Play play(arms, seed, pays);
    play.rounds(before, world);
    sum += play.rounds(count, world)[arm];
  }
  return sum / (kRuns * count);
}

TEST(Bandit, RefusesWhatCannotBeChosen) {
  EXPECT_EQ(refusal_of({}), "operators");
  EXPECT_EQ(refusal_of({{Operator::crossover, ""}}), "operators");
  EXPECT_EQ(refusal_of({{Operator::repair, ""}}), "repair");
  EXPECT_EQ(refusal_of({kEditing, kRewriting, kEditing}), "operators");
  EXPECT_EQ(refusal_of({kEditing, kRewriting}), "accepted");
}

TEST(Bandit, FindsTheBetterArm) {
  const World world{[](const auto& arm, int) { return arm == kEditing ? 0.4 : 0.1; }};
  EXPECT_GT(share_of(kEditing, {kEditing, kRewriting}, world, 100, 100), 0.75);
}

TEST(Bandit, EqualArmsAreAllTried) {
  const World world{[](const auto&, int) { return 0.3; }};
  const double share = share_of(kEditing, {kEditing, kRewriting}, world, 100, 100);
  EXPECT_GT(share, 0.3);
  EXPECT_LT(share, 0.7);
}

TEST(Bandit, FollowsAChange) {
  const World world{
      [](const auto& arm, int round) { return (arm == kEditing) == (round < 300) ? 0.4 : 0.05; }};
  EXPECT_LT(share_of(kRewriting, {kEditing, kRewriting}, world, 200, 100), 0.25);
  EXPECT_GT(share_of(kRewriting, {kEditing, kRewriting}, world, 500, 100), 0.6);
}

TEST(Bandit, LooksAtMoneyIfMoneyIsTheBudget) {
  const World world{[](const auto&, int) { return 0.3; },
                    [](const auto& arm) { return arm == kEditing ? 1.0 : 5.0; }};
  EXPECT_GT(share_of(kEditing, {kEditing, kRewriting}, world, 50, 100, true), 0.8);
  EXPECT_LT(share_of(kEditing, {kEditing, kRewriting}, world, 50, 100, false), 0.7);
}

TEST(Bandit, WhatCostsNoMoneyIsNotWorthEverything) {
  const OperatorChoice tune{Operator::tune, ""};
  const World world{[&](const auto& arm, int) { return arm == tune ? 0.01 : 0.5; },
                    [&](const auto& arm) { return arm == tune ? 0.0 : 1.0; }};
  EXPECT_GT(share_of(kEditing, {tune, kEditing}, world, 100, 100, true), 0.5);
}

TEST(Bandit, AModelThatFailsInOneOperatorIsDoubtedInTheOthers) {
  ArmRecord record;
  for (int i = 0; i < 30; ++i) {
    record.add({Operator::edit, "good"}, {.tries = 1, .better = i % 2 == 0 ? 1.0 : 0.0});
    record.add({Operator::edit, "poor"}, {.tries = 1});
  }
  const auto bandit = BanditOperators::create({{Operator::rewrite, "good"},
                                               {Operator::rewrite, "poor"},
                                               {Operator::edit, "good"},
                                               {Operator::edit, "poor"}})
                          .value();
  const Selection selection = accepted_parent();
  int good = 0, poor = 0;
  for (std::uint64_t ticket = 0; ticket < 300; ++ticket) {
    Rng rng(1, ticket, Purpose::operators);
    const auto arm = bandit.choose({.selection = selection, .arms = record}, rng);
    if (arm.op == Operator::rewrite) ++(arm.model == "good" ? good : poor);
  }
  EXPECT_GT(good, 3 * poor);
}

TEST(Bandit, ANewModelBeginsAsTheOthersAreAndARemovedOneIsNotAsked) {
  const World world{[](const auto&, int) { return 0.3; }};
  Play play({{Operator::edit, "a"}, {Operator::edit, "b"}}, 1);
  play.rounds(200, world);
  play.arms = {{Operator::edit, "a"}, {Operator::edit, "c"}};
  const auto chosen = play.rounds(100, world);
  EXPECT_EQ(chosen.count({Operator::edit, "b"}), 0U);
  EXPECT_GT(chosen.at({Operator::edit, "c"}), 20);
  EXPECT_TRUE(play.record.arms().contains({Operator::edit, "b"}));
}

TEST(Bandit, EqualRecordsGiveEqualChoices) {
  const World world{[](const auto& arm, int) { return arm == kEditing ? 0.4 : 0.1; }};
  Play one({kEditing, kRewriting}, 7), same({kEditing, kRewriting}, 7), other({kEditing, kRewriting}, 8);
  EXPECT_EQ(one.rounds(100, world), same.rounds(100, world));
  EXPECT_EQ(one.record.to_text(), same.record.to_text());
  other.rounds(100, world);
  EXPECT_NE(one.record.to_text(), other.record.to_text());
}

TEST(Bandit, CrossoverNeedsASecondParent) {
  const auto bandit = BanditOperators::create({{Operator::crossover, ""}, {Operator::edit, ""}}).value();
  ArmRecord record;
  for (int i = 0; i < 50; ++i) record.add({Operator::edit, ""}, {.tries = 1});
  Selection selection = accepted_parent();
  const auto crossovers = [&] {
    int count = 0;
    for (std::uint64_t ticket = 0; ticket < 100; ++ticket) {
      Rng rng(1, ticket, Purpose::operators);
      count += bandit.choose({.selection = selection, .arms = record}, rng).op == Operator::crossover;
    }
    return count;
  };
  EXPECT_EQ(crossovers(), 0);
  selection.inspirations.push_back(evaluated(score_of(2)));
  EXPECT_GT(crossovers(), 0);
}

/// The model that is chosen most often.
std::string favourite(const BanditOperators& bandit, const Situation& situation, Operator expected) {
  std::map<std::string, int> chosen;
  for (std::uint64_t ticket = 0; ticket < 100; ++ticket) {
    Rng rng(1, ticket, Purpose::operators);
    const auto arm = bandit.choose(situation, rng);
    EXPECT_EQ(arm.op, expected);
    ++chosen[arm.model];
  }
  return chosen["a"] > chosen["b"] ? "a" : "b";
}

TEST(Bandit, TranslationsAndRepairsGoToTheModelThatIsGoodAtThem) {
  const auto bandit = BanditOperators::create({{Operator::edit, "a"}, {Operator::edit, "b"}}).value();
  ArmRecord record;
  for (int i = 0; i < 30; ++i) {
    record.add({Operator::translate, "b"}, {.tries = 1, .accepted = 1, .better = 1});
    record.add({Operator::translate, "a"}, {.tries = 1});
    record.add({Operator::repair, "a"}, {.tries = 1, .accepted = 1, .better = 1});
    record.add({Operator::repair, "b"}, {.tries = 1});
  }
  const Selection none, failed{evaluated(rejected()), {}, {}, {}};
  EXPECT_EQ(favourite(bandit, {.selection = none, .arms = record}, Operator::translate), "b");
  EXPECT_EQ(favourite(bandit, {.selection = failed, .arms = record}, Operator::translate), "b");
  EXPECT_EQ(
      favourite(bandit, {.selection = failed, .arms = record, .op = Operator::repair}, Operator::repair),
      "a");
}

TEST(ArmRecord, OldTriesCountLess) {
  ArmRecord record;
  record.add(kEditing, {.tries = 1, .accepted = 1, .better = 1, .gain = 0.5, .usd = 2, .tokens = 100});
  for (int i = 0; i < static_cast<int>(ArmRecord::kHalfLife); ++i) record.add(kRewriting, {.tries = 1});
  const Arm edit = record.arms().at(kEditing);
  EXPECT_EQ(edit.all,
            (ArmSums{.tries = 1, .accepted = 1, .better = 1, .gain = 0.5, .usd = 2, .tokens = 100}));
  EXPECT_NEAR(edit.lately.better, 0.5, 1e-9);
  EXPECT_NEAR(edit.lately.usd, 1, 1e-9);
  EXPECT_EQ(record.total().all.tries, ArmRecord::kHalfLife + 1);
}

}  // namespace
}  // namespace kernelsmith
