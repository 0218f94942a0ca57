// What was compiled to the bytes of an earlier program is a repeat of it.
#include <gtest/gtest.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

class Gate : public ::testing::Test {
 protected:
  Commit tell(long x, const std::string& bytes, const Evaluation& evaluation) {
    return engine_.tell(next(engine_).id, number(x), of_binary(bytes, evaluation)).value().front();
  }
  Counts counts() const { return engine_.outcome().counts; }
  EvaluationArrived last() const { return std::get<EvaluationArrived>(events_->back()); }

  const EngineOptions options_ = toy_options(20);
  const Events events_ = no_events();
  Engine engine_ = open_engine(options_, events_);
};

TEST_F(Gate, TheSameBinaryIsARepeat) {
  tell(0, "seed", score_of(0));
  tell(5, "a", score_of(5));
  const Commit commit = tell(6, "a", score_of(70));
  EXPECT_EQ(commit.kind, CommitKind::repeated);
  EXPECT_EQ(commit.repeats, ProgramId{1});
  EXPECT_EQ(commit.fitness, 35) << "the first verdict is shared";
  EXPECT_EQ(last().source, EvaluationSource::same_binary);
  EXPECT_EQ(last().program, ProgramId{1});
  EXPECT_EQ(counts().evaluations, 2U);
  EXPECT_EQ(counts().repeated, 1U);
  EXPECT_EQ(counts().same_binary, 1U);
  EXPECT_EQ(text_of(engine_), replayed(options_, events_));
  EXPECT_EQ(text_of(engine_), replay_as_recorded(MemoryJournal(events_), {}).value().to_text());
}

TEST_F(Gate, ItsTokensAreKnownFromThenOn) {
  tell(0, "seed", score_of(0));
  tell(5, "a", score_of(5));
  tell(6, "a", score_of(6));
  EXPECT_EQ(tell(6, "b", score_of(6)).repeats, ProgramId{1});
  EXPECT_EQ(last().source, EvaluationSource::cached);
  EXPECT_EQ(counts().repeated, 2U);
  EXPECT_EQ(counts().same_binary, 1U);
}

TEST_F(Gate, WithoutABinaryOnlyTokensCount) {
  tell(0, "seed", score_of(0));
  EXPECT_EQ(engine_.tell(next(engine_).id, number(5), score_of(5))->front().kind, CommitKind::evaluated);
  EXPECT_EQ(engine_.tell(next(engine_).id, number(6), score_of(6))->front().kind, CommitKind::evaluated);
}

TEST_F(Gate, AnAcceptanceIsNotLostToAnEarlierRejection) {
  tell(0, "seed", score_of(0));
  tell(5, "a", rejected(Stage::run, RejectionCode::timed_out));
  EXPECT_EQ(tell(6, "a", rejected(Stage::run, RejectionCode::timed_out)).kind, CommitKind::repeated);
  EXPECT_EQ(tell(7, "a", score_of(7)).kind, CommitKind::evaluated);
  const Commit later = tell(8, "a", rejected());
  EXPECT_EQ(later.repeats, ProgramId{3}) << "the acceptance stands for the binary now";
}

TEST_F(Gate, WhatWasDemotedStaysSo) {
  auto options = toy_options(3);
  options.confirm = true;
  Engine engine = open_engine(options, no_events());
  const auto tell = [&](long x, const std::string& bytes) {
    return engine.tell(next(engine).id, number(x), of_binary(bytes, score_of(x))).value().front();
  };
  tell(0, "seed");
  tell(70, "cheat");
  tell(1, "b");
  tell(2, "c");
  const Ticket confirmation = next(engine);
  ASSERT_TRUE(std::holds_alternative<Remeasure>(confirmation.work));
  const auto& cheat = *std::get<Remeasure>(confirmation.work).challenger->program;
  ASSERT_TRUE(engine.tell(confirmation.id, of_binary("cheat", rejected(Stage::integrity))));
  ASSERT_EQ(cheat.id, ProgramId{1});
  engine.inspect([](const SearchState& state) {
    EXPECT_EQ(state.program_compiled_to(of_binary("cheat", score_of(70))), ProgramId{1});
  });
}

}  // namespace
}  // namespace kernelsmith
