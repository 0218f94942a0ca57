#include "truth/probe.hpp"

#include <cmath>

#include "references.hpp"

namespace kernelsmith::fake {
namespace {

using truth::Nature;
using truth::Scale;

template <class Function>
Result<Nature> probed(const Task& task, const Function& function) {
  Oracles oracles = oracles_of(task, function)({}).value();
  return truth::probe(task, shapes_of(task), oracles);
}

/// The terms of the only shape's output in the place `tensor`.
double terms(const Nature& nature, std::size_t tensor) { return nature.terms.at(0).at(tensor); }

constexpr auto kGelu = [](auto x) {
  using Real = decltype(x);
  return x * (1 + std::erf(x / std::sqrt(Real{2}))) / 2;
};

TEST(Probe, AnswersTheSameEveryTime) {
  const Task matmul = matmul_task(8, 16, 24), softmax = rows_task(16, 128);
  EXPECT_EQ(probed(matmul, Matmul{8, 16, 24}).value(), probed(matmul, Matmul{8, 16, 24}).value());
  EXPECT_EQ(probed(softmax, Softmax{128}).value(), probed(softmax, Softmax{128}).value());
}

TEST(Probe, SumsOfProductsHaveTheAbsoluteScaleAndTheirTerms) {
  const Nature nature = probed(matmul_task(8, 16, 24), Matmul{8, 16, 24}).value();
  EXPECT_EQ(nature.scale, Scale::absolute);
  EXPECT_EQ(terms(nature, 2), 24);
  EXPECT_EQ(probed(matmul_task(8, 16, 24, Dtype::f64), Matmul{8, 16, 24}).value().scale, Scale::absolute);
}

TEST(Probe, SumsOfProductsAreSeenAtOddShapesToo) {
  Task task = matmul_task(8, 16, 24);
  task.check = {
      {{"m", 1}, {"n", 1}, {"k", 1}}, {{"m", 1}, {"n", 7}, {"k", 3}}, {{"m", 3}, {"n", 1}, {"k", 200}}};
  const Matmul sizes[] = {{8, 16, 24}, {1, 1, 1}, {1, 7, 3}, {3, 1, 200}};
  const Nature nature = probed(task, [&](auto& call) { sizes[call.shape](call); }).value();
  EXPECT_EQ(nature.scale, Scale::absolute);
  EXPECT_EQ(nature.terms[1][2], 1);
  EXPECT_EQ(nature.terms[3][2], 200);
}

TEST(Probe, SumsOfRowsHaveTheAbsoluteScale) {
  const Task task =
      task_of({tensor("x", TensorRole::in, {"rows", "cols"}), tensor("y", TensorRole::out, {"rows"})},
              {{{"rows", 32}, {"cols", 100}}});
  const auto nature = probed(task, [](auto& call) {
    for (std::size_t i = 0; i < 3200; ++i) call.out(1)[i / 100] += call.in(0)[i];
  });
  EXPECT_EQ(nature->scale, Scale::absolute);
  EXPECT_EQ(terms(*nature, 1), 100);
}

TEST(Probe, ASoftmaxHasASensitivityAndTheTermsOfARow) {
  const Nature nature = probed(rows_task(16, 128), Softmax{128}).value();
  EXPECT_EQ(nature.scale, Scale::sensitivity);
  EXPECT_EQ(terms(nature, 1), 128);
}

TEST(Probe, AnElementwiseFunctionHasASensitivityAndFewTerms) {
  const auto gelu = probed(rows_task(16, 1024), elementwise(kGelu));
  EXPECT_EQ(gelu->scale, Scale::sensitivity);
  EXPECT_LE(terms(*gelu, 1), 10);
  EXPECT_LE(terms(*probed(rows_task(16, 1024), elementwise([](auto x) { return 3 * x; })), 1), 10);
}

TEST(Probe, EvenFunctionsAndConstantsAreNoSumsOfProducts) {
  EXPECT_EQ(probed(rows_task(4, 64), elementwise([](auto x) { return std::cos(x); }))->scale,
            Scale::sensitivity);
  EXPECT_EQ(probed(rows_task(4, 64), elementwise([](auto x) { return x * 0; }))->scale, Scale::sensitivity);
}

TEST(Probe, WhatExceedsItsAnswerToTheAbsoluteInputsIsNoSumOfProducts) {
  EXPECT_EQ(probed(rows_task(4, 64), elementwise([](auto x) { return x > 0 ? x : 2 * x; }))->scale,
            Scale::sensitivity);
}

TEST(Probe, SumsOfIntegersHaveTheirTerms) {
  const Task task = task_of(
      {tensor("x", TensorRole::in, {"rows", "cols"}, Dtype::i32), tensor("y", TensorRole::out, {"rows"})},
      {{{"rows", 32}, {"cols", 200}}});
  const auto nature = probed(task, [](auto& call) {
    using Real = typename std::remove_reference_t<decltype(call)>::Real;
    for (std::size_t i = 0; i < 6400; ++i)
      call.out(1)[i / 200] += std::sqrt(static_cast<Real>(std::abs(call.integers[0][i])));
  });
  EXPECT_EQ(terms(*nature, 1), 200);
}

TEST(Probe, OneOutputOfTwoThatIsNoSumOfProductsDecides) {
  Task task = matmul_task(8, 16, 24);
  task.tensors.push_back(tensor("d", TensorRole::out, {"m", "n"}));
  const auto nature = probed(task, [](auto& call) {
    Matmul{8, 16, 24}(call);
    for (std::size_t i = 0; i < 128; ++i) call.out(3)[i] = std::exp(call.out(2)[i] / 100);
  });
  EXPECT_EQ(nature->scale, Scale::sensitivity);
}

TEST(Probe, ShapesHaveTermsOfTheirOwn) {
  Task task = rows_task(16, 128);
  task.check = {{{"rows", 3}, {"cols", 7}}};
  const auto nature = probed(task, [](auto& call) { Softmax{call.shape == 0 ? 128U : 7U}(call); });
  ASSERT_EQ(nature->terms.size(), 2U);
  EXPECT_EQ(nature->terms[0][1], 128);
  EXPECT_LE(nature->terms[1][1], 7);
}

TEST(Probe, DeclaredTermsAreTakenAtTheirWord) {
  Task task = rows_task(16, 128);
  task.declared.accumulate = "2 * cols";
  EXPECT_EQ(terms(*probed(task, Softmax{128}), 1), 256);
  task.declared.accumulate = "0";
  EXPECT_EQ(terms(*probed(task, Softmax{128}), 1), 1) << "at least one";
  task.declared.accumulate = "columns";
  EXPECT_EQ(probed(task, Softmax{128}).error().code, ErrorCode::bad_input);
}

TEST(Probe, PositiveInputsStayPositive) {
  Task task = rows_task(4, 64);
  task.tensors[0].init = TensorInit::positive;
  const auto nature = probed(task, [](auto& call) {
    for (std::size_t i = 0; i < 256; ++i) {
      if (!(call.in(0)[i] > 0)) call.status = fail(ErrorCode::refused, "a root of what is negative");
      call.out(1)[i] = std::sqrt(call.in(0)[i]);
    }
  });
  ASSERT_TRUE(nature) << describe(nature.error());
  EXPECT_LE(terms(*nature, 1), 10);
}

TEST(Probe, AGatherHasFewTermsHoweverLongItsTable) {
  const Task task = task_of({tensor("x", TensorRole::in, {"table"}),
                             tensor("index", TensorRole::in, {"n"}, Dtype::i32, TensorInit::permutation),
                             tensor("y", TensorRole::out, {"n"})},
                            {{{"table", 512}, {"n", 512}}});
  const auto nature = probed(task, [](auto& call) {
    for (std::size_t i = 0; i < 512; ++i)
      call.out(2)[i] = call.in(0)[static_cast<std::size_t>(call.integers[1][i])];
  });
  EXPECT_LE(terms(*nature, 2), 10);
}

TEST(Probe, ErrorsOfTheOracleComeThrough) {
  const auto nature = probed(
      rows_task(4, 64), [](auto& call) { call.status = fail(ErrorCode::refused, "the reference crashed"); });
  EXPECT_EQ(nature.error().message, "the reference crashed");
}

}  // namespace
}  // namespace kernelsmith::fake
