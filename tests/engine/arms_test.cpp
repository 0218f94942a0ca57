// What the engine writes down of each arm, and a search with the bandit: followed, resumed, with other
// models.
#include <cmath>

#include <gtest/gtest.h>

#include <kernelsmith/engine/bandit.hpp>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

std::shared_ptr<const Operators> bandit_over(const std::vector<std::string>& models) {
  std::vector<OperatorChoice> arms;
  for (const Operator op : {Operator::edit, Operator::rewrite, Operator::crossover})
    for (const std::string& model : models) arms.push_back({op, model});
  return std::make_shared<BanditOperators>(BanditOperators::create(std::move(arms)).value());
}

EngineOptions bandit_options(bool deterministic, std::uint64_t iterations = 60) {
  auto options = toy_options(iterations);
  options.deterministic = deterministic;
  options.pipeline = 4;
  options.repairs = 1;
  options.evaluations_in_flight = 3;
  options.operators = bandit_over({"a", "b"});
  return options;
}

ArmRecord record_of(const Engine& engine) {
  ArmRecord record;
  engine.inspect([&](const SearchState& state) { record = state.arms(); });
  return record;
}

/// Model a's steps are small, and every other proposal of model b is a refusal; calls of a cost more.
Result<Proposal> unequal_nudge(const ProposalRequest& request) {
  const bool refuses = request.model == "b" && request.ticket.value % 2 == 0;
  Proposal proposal = refuses ? Proposal{Refusal{RefusalCode::declined, ""}, {}, {}}
                              : as_proposal(request, nudge(request)).value();
  proposal.cost = {.usd = request.model == "a" ? 0.02 : 0.01,
                   .input_tokens = 100,
                   .output_tokens = 10,
                   .model = request.model,
                   .calls = 1};
  return proposal;
}

TEST(Arms, TheOutcomeOfEachTryIsWrittenDown) {
  auto options = toy_options(6);
  options.repairs = 1;
  options.operators = weighted({{{Operator::edit, "m"}, 1}});
  Engine engine = open_engine(options, no_events());
  const auto answer = [&](const auto&... answers) { ASSERT_TRUE(engine.tell(next(engine).id, answers...)); };
  answer(score_of(0));               // the seed is no try
  answer(number(10), score_of(10));  // better
  answer(number(13), score_of(13));  // rejected
  answer(number(20), score_of(20));  // its repair is accepted, and so better
  answer(number(10), score_of(10));  // a repeat
  answer(Refusal{RefusalCode::declined, ""});
  ASSERT_TRUE(engine.give_back(next(engine).id, fail(ErrorCode::network, "the line is cut")));
  const auto arms = record_of(engine).arms();
  ASSERT_EQ(arms.size(), 2U);
  const ArmSums edit = arms.at({Operator::edit, "m"}).all, repair = arms.at({Operator::repair, "m"}).all;
  EXPECT_EQ(edit.tries, 4);
  EXPECT_EQ(edit.accepted, 1);
  EXPECT_EQ(edit.better, 1);
  EXPECT_DOUBLE_EQ(edit.gain, std::log(40.0 / 30.0));
  EXPECT_EQ(repair, (ArmSums{.tries = 1, .accepted = 1, .better = 1}));
}

TEST(Arms, CallsThatFailedOnTheWayCount) {
  auto options = toy_options(1);
  Engine engine =
      open_engine(options, no_events(), blocking(score), blocking([](const ProposalRequest& request) {
                    Cost lost;
                    lost.usd = 0.25;
                    lost.calls = 1;
                    request.lost(lost);
                    Proposal proposal = as_proposal(request, number(5)).value();
                    proposal.cost = {.usd = 0.5, .input_tokens = 7, .output_tokens = 3, .calls = 1};
                    return Result<Proposal>(proposal);
                  }));
  ASSERT_TRUE(engine.run());
  const ArmSums sums = record_of(engine).arms().at({Operator::rewrite, ""}).all;
  EXPECT_DOUBLE_EQ(sums.usd, 0.75);
  EXPECT_EQ(sums.tokens, 10);
}

TEST(Arms, ASearchWithTheBanditIsRepeatedByteForByte) {
  for (const bool deterministic : {false, true}) {
    const auto options = bandit_options(deterministic);
    const auto events = no_events(), own = no_events();
    ASSERT_TRUE(open_engine(options, events, blocking(noisy_score, 3), blocking(unequal_nudge, 3)).run());
    const auto followed =
        open_engine(options, own).follow(MemoryJournal(events), RecordedEvaluations::kept).value();
    EXPECT_EQ(followed.end, Followed::End::whole);
    EXPECT_EQ(replayed(options, own), replayed(options, events));
    EXPECT_GE(replay(MemoryJournal(events), options)->arms().arms().size(), 3U);  // which ones is chance
  }
}

TEST(Arms, ARunGoesOnWithOtherModels) {
  const auto events = no_events();
  auto options = bandit_options(false);
  ASSERT_TRUE(open_engine(options, events, blocking(noisy_score, 2), blocking(unequal_nudge, 2)).run());
  const ArmRecord before = replay(MemoryJournal(events), options)->arms();
  options.budgets.iterations = 120;
  options.operators = bandit_over({"a", "c"});
  Engine engine = open_engine(options, events, blocking(noisy_score, 2), blocking(unequal_nudge, 2));
  ASSERT_TRUE(engine.run());
  const ArmRecord after = record_of(engine);
  double of_c = 0;
  for (const auto& [choice, arm] : after.arms()) {
    if (choice.model == "b") {
      EXPECT_EQ(arm.all, before.arms().at(choice).all);
    }
    if (choice.model == "c") of_c += arm.all.tries;
  }
  EXPECT_GT(of_c, 5);
}

}  // namespace
}  // namespace kernelsmith
