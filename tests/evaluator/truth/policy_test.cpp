// The tolerance policies, each on outputs that it must accept and refuse.
#include "judging.hpp"

namespace kernelsmith::fake {
namespace {

TEST(Policy, AllcloseIsWhatItSaysForEachElement) {
  Task task = tame_rows(4, 128);
  task.tolerance.policy = "allclose";
  task.tolerance.rtol = 0x1p-6;
  task.tolerance.atol = 0x1p-8;
  Judging judging(task, off_by(kInTheSecondRow));
  const Expected expected = judging.expect(all_of(judging, -0.5F));
  for (const std::size_t i : {0U, 130U, 511U}) EXPECT_NEAR(allowed_error(expected, i), 0x1p-8 + 0x1p-7, 1e-8);
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 0.0117; }), Fault::none) << "no RMS";
  EXPECT_EQ(fault_with(expected, [](std::size_t i) { return i == 99 ? 0.0118 : 0; }), Fault::wrong);
}

TEST(Policy, NormwiseForgivesOneElementButNotAll) {
  Task task = matmul_task(16, 32, 64);
  task.tolerance.policy = "normwise";
  Judging judging(task, Matmul{16, 32, 64});
  const InputSet set = judging.set(2);
  const Expected& expected = set.outputs[2];
  EXPECT_FALSE(expected.per_element);
  const double norm = allowed_error(expected, 0);
  EXPECT_EQ(allowed_error(expected, 300), norm);
  EXPECT_EQ(fault_with(expected, [&](std::size_t i) { return i == 7 ? 10 * norm : 0; }), Fault::none);
  EXPECT_EQ(fault_with(expected, [&](std::size_t) { return 1.5 * norm; }), Fault::wrong);
}

TEST(Policy, NormwiseGivesTwiceTheReferencesRms) {
  Task task = tame_rows(4, 128);
  task.tolerance.policy = "normwise";
  Judging judging(task, off_by([](std::size_t) { return kOff; }));
  const Expected expected = judging.expect(judging.set(1).inputs);
  EXPECT_NEAR(allowed_error(expected, 0), 2 * kOff, 1e-4);
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 1.99 * kOff; }), Fault::none);
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 2.5 * kOff; }), Fault::wrong);
}

TEST(Policy, ExactIsWhatTheReferenceAnswersBitForBit) {
  Task task = tame_rows(4, 128);
  task.tolerance.policy = "exact";
  Judging judging(task, off_by(kInTheSecondRow));
  EXPECT_EQ(judging.truth->oracles().wide, nullptr);
  const Expected expected = judging.expect(all_of(judging, 0.5F));
  EXPECT_TRUE(expected.exact);
  EXPECT_EQ(values_of<float>(expected.values)[130], 0.5F + static_cast<float>(kOff));
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 0; }), Fault::none);
  EXPECT_EQ(fault_with(expected, [](std::size_t i) { return i == 3 ? 1e-7 : 0; }), Fault::wrong);
}

}  // namespace
}  // namespace kernelsmith::fake
