// What an output may be off because the reference is: an element by 16 times as much, the whole by twice.
#include "judging.hpp"
#include "truth/expectation.hpp"

namespace kernelsmith::fake {
namespace {

constexpr double kAllowed = truth::kOwnErrors * kOff, kNear = 0.01 * kOff;

TEST(OwnError, ARowMayBeAsFarOffAsTheReferenceLetsIt) {
  Judging judging(tame_rows(4, 128), off_by(kInTheSecondRow));
  const Expected expected = judging.expect(judging.set(1).inputs);
  EXPECT_NEAR(allowed_error(expected, 128), kAllowed, kNear);
  EXPECT_NEAR(allowed_error(expected, 255), kAllowed, kNear);
  EXPECT_LT(allowed_error(expected, 127), 1e-4);
  EXPECT_LT(allowed_error(expected, 256), 1e-4);
  EXPECT_EQ(fault_with(expected, [](std::size_t i) { return 1.99 * kInTheSecondRow(i); }), Fault::none);
  EXPECT_EQ(fault_with(expected, [](std::size_t i) { return -1.99 * kInTheSecondRow(i); }), Fault::none);
}

TEST(OwnError, BeyondThatAndTheBudgetIsWrong) {
  Judging judging(tame_rows(4, 128), off_by(kInTheSecondRow));
  const Expected expected = judging.expect(judging.set(1).inputs);
  for (const std::size_t wrong : {128U, 200U, 255U}) {
    const auto error = [&](std::size_t i) { return i == wrong ? kAllowed + kNear : 0; };
    EXPECT_EQ(fault_with(expected, error), Fault::wrong) << wrong;
  }
  EXPECT_EQ(fault_with(expected, [](std::size_t i) { return i == 300 ? kOff : 0; }), Fault::wrong)
      << "another row than that where the reference is off";
}

TEST(OwnError, IsTheWorstOfTheRow) {
  Judging judging(tame_rows(2, 64), off_by([](std::size_t i) { return i == 70 ? -kOff : 0; }));
  const Expected expected = judging.expect(judging.set(1).inputs);
  EXPECT_EQ(fault_with(expected, [](std::size_t i) { return i == 100 ? 15 * kOff : 0; }), Fault::none);
  EXPECT_EQ(fault_with(expected, [](std::size_t i) { return i == 30 ? 1.9 * kOff : 0; }), Fault::wrong);
}

TEST(OwnError, WithoutRowsIsThatOfAThousandElements) {
  Task task =
      task_of({tensor("x", TensorRole::in, {"n"}), tensor("y", TensorRole::out, {"n"})}, {{{"n", 3000}}});
  task.tensors[0].init = TensorInit::uniform;
  Judging judging(task, off_by([](std::size_t i) { return i == 1500 ? kOff : 0; }));
  const Expected expected = judging.expect(judging.set(1).inputs);
  EXPECT_LT(allowed_error(expected, 1023), 1e-4);
  EXPECT_NEAR(allowed_error(expected, 1024), kAllowed, kNear);
  EXPECT_NEAR(allowed_error(expected, 2047), kAllowed, kNear);
  EXPECT_LT(allowed_error(expected, 2048), 1e-4);
}

TEST(OwnError, RowsTooShortOrTooLongToTellAreTakenTogether) {
  const auto block = [](std::vector<std::int64_t> shape) {
    return truth::block_of(TensorExtent{std::move(shape), 0, 0});
  };
  EXPECT_EQ(block({10, 63}), 1024U);
  EXPECT_EQ(block({10, 64}), 64U);
  EXPECT_EQ(block({3, 10, 1024}), 1024U);
  EXPECT_EQ(block({10, 1025}), 1024U);
  EXPECT_EQ(block({100}), 1024U);
  EXPECT_EQ(block({}), 1024U);
}

/// Much in one place of each row, little elsewhere.
constexpr auto kMostlySmall = [](std::size_t i) { return i % 128 == 5 ? kOff : kOff / 50; };

TEST(OwnError, TheRmsMayBeTwiceTheReferences) {
  Judging judging(tame_rows(8, 128), off_by(kMostlySmall));
  const Expected expected = judging.expect(judging.set(1).inputs);
  EXPECT_EQ(fault_with(expected, [](std::size_t i) { return 1.99 * kMostlySmall(i); }), Fault::none);
  // The reference's is 0.09 of kOff; an eighth more is for the scatter of a thousand elements.
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 0.18 * kOff; }), Fault::none);
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 0.22 * kOff; }), Fault::wrong)
      << "though within each element's budget";
}

TEST(OwnError, OfFewOutputsIsTriedOnOtherInputsToo) {
  // Exact by luck on inputs of one half.
  const auto lucky = [](auto& call) {
    bool halves = true;
    for (std::size_t i = 0; i < call.in(0).size(); ++i) {
      call.out(1)[0] += call.in(0)[i];
      halves = halves && call.in(0)[i] == 0.5F;
    }
    if (call.declared && !halves) call.out(1)[0] += static_cast<float>(kOff);
  };
  const Task task =
      task_of({tensor("x", TensorRole::in, {"n"}), tensor("y", TensorRole::out, {"1"})}, {{{"n", 64}}});
  Judging judging(task, lucky);
  const Expected expected = judging.expect(all_of(judging, 0.5F));
  EXPECT_NEAR(allowed_error(expected, 0), kAllowed, kOff / 2);
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 1.8 * kOff; }), Fault::none);
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 12 * kOff; }), Fault::wrong)
      << "the RMS of one element may be five times what that of many may";
}

TEST(OwnError, GivesNothingToWhatTheReferenceDoesExactly) {
  Judging judging(tame_rows(4, 128), off_by([](std::size_t) { return 0; }));
  const Expected expected = judging.expect(all_of(judging, 0.75F));
  // c = 64 units of |y| + D, and D is the size of y.
  EXPECT_NEAR(allowed_error(expected, 7), 64 * 0x1p-24 * 1.5, 64 * 0x1p-24);
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 1e-6; }), Fault::none);
  EXPECT_EQ(fault_with(expected, [](std::size_t) { return 4e-6; }), Fault::wrong) << "by the RMS";
  EXPECT_EQ(fault_with(expected, [](std::size_t i) { return i == 7 ? 2e-5 : 0; }), Fault::wrong);
}

TEST(MeanSquare, IsOfWhatIsFiniteAndHoldsTheSquaresOfAllDoubles) {
  truth::MeanSquare huge;
  EXPECT_EQ(huge.root(), 0);
  huge.add(1e300);
  huge.add(-1e300);
  huge.add(std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(huge.root(), 1e300);
}

}  // namespace
}  // namespace kernelsmith::fake
