#include <cmath>

#include <kernelsmith/evaluator/precision.hpp>

#include "references.hpp"

namespace kernelsmith::fake {
namespace {

template <class Function>
PrecisionCheck check_of(const Task& task, const Function& function) {
  const auto checks = check_precision(task, oracles_of(task, function)).value();
  EXPECT_EQ(checks.size(), 1U);
  return checks.at(0);
}

TEST(PrecisionCheck, RoundedInputsOfAPlainSumOfProductsAreCaught) {
  const PrecisionCheck check = check_of(matmul_task(16, 32, 64), Matmul{16, 32, 64});
  EXPECT_EQ(check.shape, "k=64 m=16 n=32");
  EXPECT_EQ(check.lower, "tf32");
  EXPECT_EQ(check.caught, check.sets);
  EXPECT_GE(check.sets, 3U);
  EXPECT_TRUE(check.tells());
  EXPECT_THAT(check.negligible, IsEmpty());
}

PrecisionCheck check_matmul(Dtype dtype, std::vector<std::string> allow = {}) {
  Task task = matmul_task(16, 32, 64, dtype);
  task.tolerance.allow = std::move(allow);
  return check_of(task, Matmul{16, 32, 64});
}

TEST(PrecisionCheck, TheLowerPrecisionIsThatBelowWhatTheTaskAsksFor) {
  EXPECT_EQ(check_matmul(Dtype::f64).lower, "f32");
  EXPECT_EQ(check_matmul(Dtype::f32).lower, "tf32");
  EXPECT_EQ(check_matmul(Dtype::f32, {"tf32"}).lower, "bf16");
  EXPECT_EQ(check_matmul(Dtype::f32, {"f16_accumulate"}).lower, "bf16");
  EXPECT_EQ(check_matmul(Dtype::f32, {"bf16_accumulate"}).lower, "f8");
  EXPECT_EQ(check_matmul(Dtype::f16).lower, "bf16");
  EXPECT_EQ(check_matmul(Dtype::bf16).lower, "f8");
  EXPECT_EQ(check_matmul(Dtype::f8e4m3).lower, "two digits");
}

TEST(PrecisionCheck, EveryTypeIsToldFromTheOneBelow) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3}) {
    const PrecisionCheck check = check_matmul(dtype);
    EXPECT_TRUE(check.tells()) << name_of(dtype) << " " << check.caught;
  }
  // Sums of 64 terms in f16 are off as far as inputs of bf16 make them.
  for (const char* const allowed : {"tf32", "bf16_accumulate"}) {
    const PrecisionCheck check = check_matmul(Dtype::f32, {allowed});
    EXPECT_TRUE(check.tells()) << allowed << " " << check.caught;
  }
}

TEST(PrecisionCheck, ElementwiseFunctionsAndNormalisationsAreTold) {
  EXPECT_TRUE(check_of(rows_task(16, 128), Softmax{128}).tells());
  EXPECT_TRUE(check_of(rows_task(16, 128), elementwise([](auto x) { return std::tanh(x); })).tells());
}

TEST(PrecisionCheck, AWideToleranceTellsNothing) {
  Task task = matmul_task(8, 16, 32);
  task.tolerance.policy = "allclose";
  task.tolerance.rtol = task.tolerance.atol = 0.1;
  const PrecisionCheck check = check_of(task, Matmul{8, 16, 32});
  EXPECT_EQ(check.caught, 0U);
  EXPECT_FALSE(check.tells());
}

TEST(PrecisionCheck, WhereInputsAreExactInTheLowerPrecisionOutputsAreRounded) {
  Task task = matmul_task(8, 16, 32);
  for (TensorSpec& tensor : task.tensors) tensor.init = TensorInit::integer;
  EXPECT_TRUE(check_of(task, Matmul{8, 16, 32}).tells());
}

/// y = w + share * mean of x, for 512 rows of 64; and `unused`.
Task carried_task() {
  return task_of({tensor("w", TensorRole::in, {"rows"}), tensor("x", TensorRole::in, {"rows", "cols"}),
                  tensor("unused", TensorRole::in, {"rows"}), tensor("y", TensorRole::out, {"rows"})},
                 {{{"rows", 512}, {"cols", 64}}});
}

auto carried(double share) {
  return [share](auto& call) {
    using Real = typename std::remove_reference_t<decltype(call)>::Real;
    for (std::size_t row = 0; row < 512; ++row) {
      Real sum = 0;
      for (std::size_t i = 0; i < 64; ++i) sum += call.in(1)[row * 64 + i];
      call.out(3)[row] = call.in(0)[row] + static_cast<Real>(share) * sum / 64;
    }
  };
}

TEST(PrecisionCheck, AnInputHalfOfWhichCanBeLeftOutIsNamed) {
  EXPECT_THAT(check_of(carried_task(), carried(1e-9)).negligible, ElementsAre("x"));
}

TEST(PrecisionCheck, AnInputThatCountsIsNotNamedNorOneThatDoesNotAtAll) {
  EXPECT_THAT(check_of(carried_task(), carried(1)).negligible, IsEmpty());
  EXPECT_THAT(check_of(carried_task(), carried(0)).negligible, IsEmpty());
}

TEST(PrecisionCheck, AnOutputThatNoInputMovesIsNamed) {
  const auto row_minus_mean = [](auto& call) {  // of the largest element of a row, beside itself
    for (std::size_t i = 0; i < 64; ++i) call.out(1)[i] = (call.in(0)[i] + 7) - call.in(0)[i];
  };
  EXPECT_THAT(check_of(rows_task(1, 64), row_minus_mean).unmoved, ElementsAre("y"));
  EXPECT_THAT(check_of(rows_task(4, 64), Softmax{64}).unmoved, IsEmpty());
}

TEST(PrecisionCheck, IntegersHalfOfWhichCanBeLeftOutAreNamed) {
  Task task = task_of({tensor("x", TensorRole::in, {"n"}),
                       tensor("k", TensorRole::in, {"n"}, Dtype::i32, TensorInit::integer),
                       tensor("y", TensorRole::out, {"n"})},
                      {{{"n", 512}}});
  const auto check = check_of(task, [](auto& call) {
    using Real = typename std::remove_reference_t<decltype(call)>::Real;
    for (std::size_t i = 0; i < 512; ++i)
      call.out(2)[i] =
          call.in(0)[i] * (1 + static_cast<Real>(call.integers[1][i]) * static_cast<Real>(1e-14));
  });
  EXPECT_THAT(check.negligible, ElementsAre("k"));
}

TEST(PrecisionCheck, WhatIsShorterThanTwoCacheLinesHasNoHalf) {
  EXPECT_THAT(check_of(rows_task(2, 12), elementwise([](auto x) { return x; })).negligible, IsEmpty());
}

TEST(PrecisionCheck, SaysTheSameEveryTime) {
  const auto checked = [] { return check_of(rows_task(4, 64), Softmax{64}); };
  const PrecisionCheck one = checked(), other = checked();
  EXPECT_EQ(one.caught, other.caught);
  EXPECT_EQ(one.negligible, other.negligible);
}

TEST(PrecisionCheck, IsOfEveryTimedShapeAndNoOther) {
  Task task = rows_task(4, 64);
  task.timed.push_back({{"rows", 2}, {"cols", 100}});
  task.check = {{{"rows", 1}, {"cols", 1}}};
  const auto checks = check_precision(task, oracles_of(task, elementwise([](auto x) { return x; }))).value();
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[1].shape, "cols=100 rows=2");
}

TEST(PrecisionCheck, HasNothingToSayOfExactOutputs) {
  Task exact = rows_task(4, 64);
  exact.tolerance.policy = "exact";
  EXPECT_THAT(check_precision(exact, oracles_of(exact, Softmax{64})).value(), IsEmpty());
  Task integers = rows_task(4, 64);
  integers.tensors[1].dtype = Dtype::i8;
  EXPECT_THAT(check_precision(integers, oracles_of(integers, [](auto&) {})).value(), IsEmpty());
}

TEST(PrecisionCheck, ErrorsOfTheOraclesComeThrough) {
  const Task task = rows_task(4, 64);
  const auto checks = check_precision(task, oracles_of(task, [](auto& call) {
                                        if (call.declared)
                                          call.status = fail(ErrorCode::refused, "the reference crashed");
                                      }));
  EXPECT_EQ(checks.error().message, "the reference crashed");
}

}  // namespace
}  // namespace kernelsmith::fake
