// Outputs of integers.
#include <cmath>

#include "judging.hpp"

namespace kernelsmith::fake {
namespace {

/// y = round(20 x), as i8.
constexpr auto kQuantise = [](auto& call) {
  for (std::size_t i = 0; i < call.in(0).size(); ++i)
    call.integers[1][i] = static_cast<std::int64_t>(std::nearbyint(call.in(0)[i] * 20));
};

Task quantising(std::int64_t n) {
  return task_of({tensor("x", TensorRole::in, {"n"}), tensor("y", TensorRole::out, {"n"}, Dtype::i8)},
                 {{{"n", n}}});
}

TEST(Integers, FromRealsMayStepWhereRoundingDecides) {
  Judging judging(quantising(4), kQuantise);
  const Expected expected = judging.expect({bytes_from<float>({0.1251F, 0.12500001F, -0.325F, 0.6F}), {}});
  EXPECT_TRUE(expected.exact);
  EXPECT_EQ(values_of<std::uint8_t>(expected.steps), (std::vector<std::uint8_t>{0, 1, 1, 0}));
  EXPECT_EQ(expected.more_steps, 1U);
  EXPECT_EQ(fault_of<std::int8_t>(expected, {3, 2, -6, 12}), Fault::none);
  EXPECT_EQ(fault_of<std::int8_t>(expected, {3, 3, -7, 12}), Fault::none);
  EXPECT_EQ(fault_of<std::int8_t>(expected, {3, 3, -7, 11}), Fault::none) << "one more";
  EXPECT_EQ(fault_of<std::int8_t>(expected, {4, 3, -7, 11}), Fault::wrong) << "but not two";
  EXPECT_EQ(fault_of<std::int8_t>(expected, {3, 3, -7, 10}), Fault::wrong) << "nor two steps";
}

TEST(Integers, FromRealsAreExactWhereNothingIsNearAStep) {
  Judging judging(quantising(4), kQuantise);
  const Expected expected = judging.expect({bytes_from<float>({0.1F, 0.2F, 0.3F, 0.4F}), {}});
  EXPECT_TRUE(expected.steps.empty());
  EXPECT_EQ(fault_of<std::int8_t>(expected, {2, 4, 6, 8}), Fault::none);
  EXPECT_EQ(fault_of<std::int8_t>(expected, {2, 4, 6, 9}), Fault::wrong);
}

TEST(Integers, MayStepWhereTheReferencesOwnPrecisionDoes) {
  Judging judging(quantising(4), [](auto& call) {
    kQuantise(call);
    if (call.declared) ++call.integers[1][2];
  });
  const Expected expected = judging.expect({bytes_from<float>({0.1F, 0.2F, 0.3F, 0.4F}), {}});
  EXPECT_EQ(values_of<std::uint8_t>(expected.steps), (std::vector<std::uint8_t>{0, 0, 1, 0}));
}

TEST(Integers, ComparisonsOfRealsMayGoEitherWayWhereTheyAreEqual) {
  Task task = quantising(3);
  task.tensors[1].dtype = Dtype::boolean;
  Judging judging(task, [](auto& call) {
    for (std::size_t i = 0; i < 3; ++i) call.integers[1][i] = call.in(0)[i] * 10 > 5 ? 1 : 0;
  });
  const Expected expected = judging.expect({bytes_from<float>({0.4F, 0.5F, 0.6F}), {}});
  EXPECT_EQ(values_of<std::uint8_t>(expected.steps), (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(fault_of<std::uint8_t>(expected, {0, 1, 1}), Fault::none);
  EXPECT_EQ(fault_of<std::uint8_t>(expected, {1, 1, 0}), Fault::wrong);
}

TEST(Integers, ThatJumpAreExact) {
  // The place of the largest: a tie makes it jump, but by more than a step.
  const Task task = task_of(
      {tensor("x", TensorRole::in, {"n"}), tensor("y", TensorRole::out, {"1"}, Dtype::i64)}, {{{"n", 8}}});
  Judging judging(task, [](auto& call) {
    const auto& x = call.in(0);
    call.integers[1][0] = std::max_element(x.begin(), x.end()) - x.begin();
  });
  const Expected expected = judging.expect({bytes_from<float>({1, 0, 0, 1, 0, 0, 0, 0}), {}});
  EXPECT_TRUE(expected.steps.empty());
  EXPECT_EQ(fault_of<std::int64_t>(expected, {0}), Fault::none);
  EXPECT_EQ(fault_of<std::int64_t>(expected, {1}), Fault::wrong);
}

/// The place of the largest of each row, the first of equal ones or the last.
template <class Values>
std::vector<std::int64_t> places_of(const Values& x, std::size_t rows, std::size_t cols, bool last) {
  std::vector<std::int64_t> places(rows);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 1; i < cols; ++i) {
      const auto now = x[row * cols + i], best = x[row * cols + static_cast<std::size_t>(places[row])];
      if (now > best || (last && now == best)) places[row] = static_cast<std::int64_t>(i);
    }
  return places;
}

TEST(Integers, TheLastOfEqualsIsSeenWhereThereAreTies) {
  static constexpr std::size_t kRows = 64, kCols = 50;
  const auto fault_with = [&](TensorInit init) {
    const Task task = task_of({tensor("x", TensorRole::in, {"rows", "cols"}, Dtype::f32, init),
                               tensor("y", TensorRole::out, {"rows"}, Dtype::i32)},
                              {{{"rows", kRows}, {"cols", kCols}}});
    Judging judging(task, [](auto& call) { call.integers[1] = places_of(call.in(0), kRows, kCols, false); });
    const InputSet set = judging.set(1);
    const auto x = values_of<float>(set.inputs[0]);
    const auto fault = [&](bool last) {
      const auto places = places_of(x, kRows, kCols, last);
      return fault_of(set.outputs[1], std::vector<std::int32_t>(places.begin(), places.end()));
    };
    EXPECT_EQ(fault(false), Fault::none);
    return fault(true);
  };
  EXPECT_EQ(fault_with(TensorInit::normal), Fault::none) << "nothing is there twice";
  EXPECT_EQ(fault_with(TensorInit::ties), Fault::wrong);
}

TEST(Integers, WithoutRealsAreExact) {
  const Task task = task_of(
      {tensor("x", TensorRole::in, {"n"}, Dtype::i32), tensor("y", TensorRole::out, {"n"}, Dtype::i64)},
      {{{"n", 100}}});
  Judging judging(task, [](auto& call) {
    for (std::size_t i = 0; i < 100; ++i) call.integers[1][i] = 1'000'000'000'007 * call.integers[0][i];
  });
  EXPECT_EQ(judging.truth->oracles().wide, nullptr);
  const InputSet set = judging.set(1);
  auto y = values_of<std::int64_t>(set.outputs[1].values);
  EXPECT_EQ(y[5], 1'000'000'000'007 * values_of<std::int32_t>(set.inputs[0])[5]);
  EXPECT_EQ(fault_of(set.outputs[1], y), Fault::none);
  ++y[5];
  EXPECT_EQ(fault_of(set.outputs[1], y), Fault::wrong);
}

TEST(Integers, BesideRealsAreExactWhereTheyComeOfIntegers) {
  Task task = quantising(64);
  task.tensors.push_back(tensor("k", TensorRole::in, {"n"}, Dtype::i32));
  task.tensors.push_back(tensor("z", TensorRole::out, {"n"}, Dtype::i32));
  Judging judging(task, [](auto& call) {
    kQuantise(call);
    for (std::size_t i = 0; i < 64; ++i) call.integers[3][i] = 3 * call.integers[2][i];
  });
  const InputSet set = judging.set(1);
  EXPECT_TRUE(set.outputs[3].exact);
  EXPECT_TRUE(set.outputs[3].steps.empty());
  EXPECT_EQ(set.outputs[3].more_steps, 0U);
}

}  // namespace
}  // namespace kernelsmith::fake
