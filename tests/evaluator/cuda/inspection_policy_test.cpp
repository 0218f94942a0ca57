// Which evaluations are inspected, and what becomes of them.
#include "inspector/inspection_policy.hpp"

#include "testing.hpp"

namespace kernelsmith::cuda {
namespace {

struct AnyBinary final : Binary {};

class InspectionPolicyTest : public ::testing::Test {
 protected:
  static Evaluation timed(double over_yardstick, double spread = 0.01) {
    Report report;
    report.over_yardstick =
        Measurement{over_yardstick, over_yardstick - spread, over_yardstick + spread, 9, "x"};
    report.artifacts = {{"plan.txt", "a plan"}};
    return Acceptance{Metrics::create(*report.over_yardstick, {}).value(), report};
  }
  Result<Evaluation> look(const Evaluation& evaluation, std::optional<Remeasurement> why = {},
                          BinaryPtr binary = std::make_shared<AnyBinary>(), bool careful = false) {
    RunRequest request;
    request.careful = careful;
    request.candidate = std::move(binary);
    request.remeasurement = why;
    return policy_.look(evaluation, request, {});
  }

  int inspections_ = 0;
  double now_ms_ = 60'000, takes_ms_ = 0;
  Inspection next_{"", "memory bounds it", {{"ncu", "a note"}}};
  std::optional<Error> broken_;
  InspectionPolicy policy_{[this](const BinaryPtr&, const std::stop_token&) -> Result<Inspection> {
                             ++inspections_;
                             now_ms_ += takes_ms_;
                             if (broken_) return *broken_;
                             return next_;
                           },
                           [this] { return now_ms_; }};
};

TEST_F(InspectionPolicyTest, InspectsWhatBeatsYardstickAndAllBefore) {
  for (const double over : {0.7, 1.005, 1.2, 1.1, 1.205, 1.3}) ASSERT_TRUE(look(timed(over)));
  EXPECT_EQ(inspections_, 2) << "1.2 and 1.3: the others' intervals do not lie above what was best";
}

TEST_F(InspectionPolicyTest, TakesAFifthOfASearchAtMost) {
  takes_ms_ = 6000;
  now_ms_ = 24'000;
  ASSERT_TRUE(look(timed(1.2)));
  EXPECT_EQ(inspections_, 0) << "the usual time would be more than a fifth";
  now_ms_ = 25'000;
  ASSERT_TRUE(look(timed(1.2)));
  EXPECT_EQ(inspections_, 1);
  ASSERT_TRUE(look(timed(1.3)));
  EXPECT_EQ(inspections_, 1) << "the first took 6 s, so two would take 12 of 31 s";
  ASSERT_TRUE(look(timed(1.25), Remeasurement::confirm));
  EXPECT_EQ(inspections_, 2) << "what is confirmed is always inspected";
  now_ms_ = 90'000;
  ASSERT_TRUE(look(timed(1.28)));
  EXPECT_EQ(inspections_, 3) << "1.3 did not pass an inspection, so 1.28 is better than what did";
  ASSERT_TRUE(look(timed(1.5), {}, std::make_shared<AnyBinary>(), true));
  EXPECT_EQ(inspections_, 4) << "outside of a search nothing waits for the device";
}

TEST_F(InspectionPolicyTest, TheReportGetsAdviceAndNotes) {
  const auto seen = look(timed(1.5));
  ASSERT_TRUE(seen && seen->accepted());
  EXPECT_EQ(seen->report().advice, "memory bounds it");
  EXPECT_EQ(seen->report().artifacts.size(), 2U);
  EXPECT_TRUE(seen->report().spent_ms.contains("inspect"));
  EXPECT_EQ(look(timed(0.5))->report().advice, "");
}

TEST_F(InspectionPolicyTest, FindingsRejectAndSetNoRecord) {
  next_.unsafe = "compute-sanitizer memcheck:\nInvalid __global__ read\n";
  const auto seen = look(timed(2));
  ASSERT_TRUE(seen && !seen->accepted());
  EXPECT_EQ(seen->rejection()->code, RejectionCode::unsafe_memory);
  EXPECT_EQ(seen->rejection()->stage, Stage::integrity);
  EXPECT_EQ(seen->rejection()->diagnostics, next_.unsafe);
  next_.unsafe.clear();
  ASSERT_TRUE(look(timed(1.5)));
  EXPECT_EQ(inspections_, 2);
}

TEST_F(InspectionPolicyTest, AConfirmationIsInspectedUnlessItJustWas) {
  const auto binary = std::make_shared<AnyBinary>();
  ASSERT_TRUE(look(timed(1.5), {}, binary));
  ASSERT_TRUE(look(timed(1.4), Remeasurement::confirm, binary));
  EXPECT_EQ(inspections_, 1);
  const auto slow = look(timed(0.9), Remeasurement::confirm);
  EXPECT_EQ(inspections_, 2);
  EXPECT_EQ(slow->report().advice, "memory bounds it");
  ASSERT_TRUE(look(timed(0.9), Remeasurement::duel));
  EXPECT_EQ(inspections_, 2);
}

TEST_F(InspectionPolicyTest, ARejectionIsLeftAlone) {
  const Evaluation rejected = Rejection{Stage::run, RejectionCode::crashed, "signal 11", {}};
  EXPECT_EQ(look(rejected, Remeasurement::confirm).value(), rejected);
  EXPECT_EQ(inspections_, 0);
}

TEST_F(InspectionPolicyTest, AnErrorOfTheMachineIsOne) {
  broken_ = fail(ErrorCode::cancelled, "stopped on request");
  ASSERT_FALSE(look(timed(2)));
  broken_.reset();
  ASSERT_TRUE(look(timed(2)));
  EXPECT_EQ(inspections_, 2);
}

TEST_F(InspectionPolicyTest, WithoutToolsNothingChanges) {
  InspectionPolicy none;
  const Evaluation evaluation = timed(3);
  EXPECT_EQ(none.look(evaluation, {}, {}).value(), evaluation);
}

}  // namespace
}  // namespace kernelsmith::cuda
