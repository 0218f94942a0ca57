// A candidate against the elite that it would replace, in the same samples.
#include "fake_host.hpp"

namespace kernelsmith::fake {
namespace {

Report duel_of(const KernelPtr& challenger, const KernelPtr& incumbent, Bench bench = {}) {
  const Report report = accepted(bench.evaluate(Bench::duel(challenger, incumbent))).report();
  EXPECT_TRUE(bench.host->taken.empty());
  return report;
}

TEST(Duel, IsWonByTheFaster) {
  const Report report = duel_of(kernel(500), kernel(800));
  EXPECT_DOUBLE_EQ(report.duel->median, 1.6);
  EXPECT_GT(report.duel->low, 1.5);
  EXPECT_DOUBLE_EQ(report.over_yardstick->median, 2);
  EXPECT_EQ(report.incumbent_failed, std::nullopt);
}

TEST(Duel, IsLostByTheSlower) { EXPECT_LT(duel_of(kernel(900), kernel(600)).duel->high, 0.7); }

TEST(Duel, IsOpenBetweenLikeAndLike) {
  const Report report = duel_of(kernel(700), kernel(700));
  EXPECT_DOUBLE_EQ(report.duel->median, 1);
  EXPECT_LT(report.duel->low, 1);
}

TEST(Duel, IsNotWonByWorkOnSeveralCallsAtOnce) {
  Bench bench;
  bench.sets = 256;
  bench.baseline = kernel(50, "baseline");
  auto trick = kernel();
  trick->run = [](const Call& call) -> Judged<double> {
    return 50.0 * static_cast<double>((call.calls + 7) / 8);
  };
  EXPECT_LT(duel_of(trick, kernel(50), std::move(bench)).duel->median, 1.1);
}

struct DuelFault {
  const char* name;
  std::size_t from_batch;  ///< of the incumbent
};

class IncumbentThatBreaksARule : public ::testing::TestWithParam<DuelFault> {};

TEST_P(IncumbentThatBreaksARule, HasLostAndTheChallengerIsScored) {
  auto incumbent = kernel(400);
  incumbent->run = [](const Call& call) -> Judged<double> {
    if (call.batch < GetParam().from_batch) return 400.0 * static_cast<double>(call.calls);
    return reject(Stage::run, RejectionCode::crashed, "signal 11");
  };
  const Report report = duel_of(kernel(500), incumbent);
  EXPECT_EQ(report.duel, std::nullopt);
  EXPECT_THAT(report.incumbent_failed.value_or(""), HasSubstr("signal 11"));
  EXPECT_DOUBLE_EQ(report.over_yardstick->median, 2);
}

INSTANTIATE_TEST_SUITE_P(When, IncumbentThatBreaksARule,
                         ::testing::Values(DuelFault{"in_its_check", 1}, DuelFault{"in_a_warm_up", 4},
                                           DuelFault{"in_a_sample", 6}, DuelFault{"in_the_last_round", 15}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(Duel, AnIncumbentWhoseTimedOutputIsWrongHasLost) {
  auto incumbent = kernel(400);
  incumbent->compare = [](const Call& call) {
    return call.batch < 8 ? Findings{} : finds(kernelsmith::Fault::wrong);
  };
  EXPECT_THAT(duel_of(kernel(500), incumbent).incumbent_failed.value_or(""), HasSubstr("differs"));
}

TEST(Duel, AnIncumbentThatCannotBeLoadedAgainHasLost) {
  auto incumbent = kernel(400);
  incumbent->open = [](std::size_t session) -> Judged<void> {
    if (session < 2) return {};
    return reject(Stage::run, RejectionCode::load_failed, "no such file");
  };
  EXPECT_EQ(duel_of(kernel(500), incumbent).incumbent_failed, "no such file");
}

TEST(Duel, AChallengerThatBreaksARuleIsRejected) {
  Bench bench;
  auto challenger = kernel();
  challenger->compare = [](const Call& call) {
    return call.batch < 8 ? Findings{} : finds(kernelsmith::Fault::not_written);
  };
  EXPECT_EQ(rejection_of(bench.evaluate(Bench::duel(challenger, kernel()))).code,
            RejectionCode::output_not_written);
}

TEST(Duel, AnErrorBesideTheIncumbentIsTheMachines) {
  Bench bench;
  auto incumbent = kernel();
  incumbent->run = [](const Call&) -> Judged<double> { return Failure(fail(ErrorCode::io, "")); };
  EXPECT_EQ(bench.evaluate(Bench::duel(kernel(), incumbent)).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace kernelsmith::fake
