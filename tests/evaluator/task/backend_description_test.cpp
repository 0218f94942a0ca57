// What the doctor says about a task.
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/precision.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

PrecisionCheck found(std::size_t caught) {
  PrecisionCheck check;
  check.shape = "rows=3";
  check.lower = "tf32";
  check.sets = 6;
  check.caught = caught;
  return check;
}

TEST(PrecisionChecks, AreOkWhereALowerPrecisionFails) {
  const auto checks = precision_checks(std::vector{found(6)});
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks.front().status, CheckStatus::ok);
  EXPECT_THAT(checks.front().detail, HasSubstr("tf32 inputs fail 6 of 6 sets at rows=3"));
  EXPECT_TRUE(checks.front().remedy.empty());
}

TEST(PrecisionChecks, SayWhatCouldBeLeftOut) {
  PrecisionCheck check = found(0);
  check.negligible = {"bias"};
  const auto checks = precision_checks(std::vector{check});
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].status, CheckStatus::limited);
  EXPECT_THAT(checks[0].detail, HasSubstr("a kernel that computes in tf32 would be accepted"));
  EXPECT_THAT(checks[0].remedy, HasSubstr("allow: [tf32]"));
  EXPECT_EQ(checks[1].status, CheckStatus::limited);
  EXPECT_THAT(checks[1].detail, HasSubstr("half of 'bias' could be left out at rows=3"));
  for (const MachineCheck& one : checks) EXPECT_FALSE(one.required) << "a warning";
}

TEST(PrecisionChecks, NameOutputsThatNoInputMoves) {
  PrecisionCheck check = found(6);
  check.unmoved = {"y"};
  const auto checks = precision_checks(std::vector{check});
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[1].status, CheckStatus::limited);
  EXPECT_THAT(checks[1].detail, HasSubstr("degenerate: 'y' is the same for all inputs at rows=3"));
  EXPECT_FALSE(checks[1].required);
}

TEST(PrecisionChecks, TellExactTasksAndErrors) {
  const auto exact = precision_checks(std::vector<PrecisionCheck>{});
  ASSERT_EQ(exact.size(), 1U);
  EXPECT_THAT(exact.front().detail, HasSubstr("bit for bit"));
  const auto failed = precision_checks(fail(ErrorCode::tool_missing, "no compiler", "g++", "install it"));
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed.front().status, CheckStatus::missing);
  EXPECT_EQ(failed.front().remedy, "install it");
}

TEST(TaskCheck, NamesTheFilesThatPass) {
  Task task;
  task.reference = task.baseline = Source::create({{"r.cpp", "r"}}).value();
  EXPECT_EQ(task_check(task, {}).detail, "reference and baseline compile and pass");
  task.seed = task.reference;
  EXPECT_EQ(task_check(task, {}).detail, "reference, baseline and seed compile and pass");
  const MachineCheck refused = task_check(task, fail(ErrorCode::refused, "the seed is wrong", "seed.cpp"));
  EXPECT_EQ(refused.status, CheckStatus::missing);
  EXPECT_TRUE(refused.required);
  EXPECT_THAT(refused.detail, AllOf(HasSubstr("the seed is wrong"), HasSubstr("seed.cpp")));
}

}  // namespace
}  // namespace kernelsmith
