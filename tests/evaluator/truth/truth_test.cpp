// Honest kernels and others.
#include <cmath>

#include "judging.hpp"

namespace kernelsmith::fake {
namespace {

/// Terms added up in `lanes` partial sums.
std::vector<float> matmul_in_lanes(const InputSet& set, const Matmul& of, std::size_t lanes,
                                   std::size_t left_out) {
  const auto a = values_of<float>(set.inputs[0]), b = values_of<float>(set.inputs[1]);
  std::vector<float> c(of.m * of.n);
  for (std::size_t i = 0; i < of.m; ++i)
    for (std::size_t j = 0; j < of.n; ++j) {
      std::vector<float> sums(lanes);
      for (std::size_t p = 0; p + left_out < of.k; ++p) sums[p % lanes] += a[i * of.k + p] * b[p * of.n + j];
      for (const float sum : sums) c[i * of.n + j] += sum;
    }
  return c;
}

TEST(Truth, MatmulsInOtherOrdersAreRightAndWithoutATermWrong) {
  const Matmul size{16, 32, 256};
  Judging judging(matmul_task(16, 32, 256), size);
  for (std::uint64_t key = 0; key < 14; ++key) {
    const InputSet set = judging.set(key);
    for (const std::size_t lanes : {1U, 8U, 64U})
      EXPECT_EQ(fault_of(set.outputs[2], matmul_in_lanes(set, size, lanes, 0)), Fault::none) << key;
    EXPECT_EQ(fault_of(set.outputs[2], matmul_in_lanes(set, size, 1, 1)), Fault::wrong) << key;
  }
}

template <class Function>
void expect_the_reference_to_be_right(const Task& task, const Function& function) {
  SCOPED_TRACE(name_of(task.tensors[0].dtype));
  Judging judging(task, function);
  for (std::uint64_t key = 0; key < 7; ++key) {
    const InputSet set = judging.set(key);
    const Expected& expected = set.outputs[judging.output()];
    EXPECT_EQ(compare_output(expected, judging.reference(set.inputs), kPoison).fault, Fault::none) << key;
    EXPECT_TRUE(expected.exact || expected.judged > 0);
  }
}

TEST(Truth, TheReferenceIsRightInEveryTypeAndPolicy) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2}) {
    expect_the_reference_to_be_right(matmul_task(4, 16, 64, dtype), Matmul{4, 16, 64});
    expect_the_reference_to_be_right(rows_task(8, 64, dtype), Softmax{64});
    for (const char* const policy : {"exact", "normwise"}) {
      Task task = rows_task(8, 64, dtype);
      task.tolerance.policy = policy;
      expect_the_reference_to_be_right(task, Softmax{64});
    }
  }
}

TEST(Truth, OfF64IsALongDoubles) {
  Judging judging(rows_task(4, 64, Dtype::f64), elementwise([](auto x) { return std::exp(x) - 1; }));
  EXPECT_EQ(judging.truth->oracles().wide->precision(), OraclePrecision::long_double);
  const InputSet set = judging.set(3);
  const Expected& expected = set.outputs[1];
  EXPECT_TRUE(expected.wide_weights);
  std::vector<double> singles = values_of<double>(expected.values);
  for (double& value : singles) value = static_cast<double>(static_cast<float>(value));
  EXPECT_EQ(fault_of(expected, singles), Fault::wrong) << "rounded to f32";
}

TEST(Truth, ANarrowOutputMayBeOffByAFewOfItsUnits) {
  Judging judging(rows_task(4, 64, Dtype::f16), elementwise([](auto x) { return x; }));
  const auto x = std::vector<std::uint16_t>(256, 0x3c00);  // Ones.
  const Expected expected = judging.expect({bytes_from(x), {}});
  std::vector<std::uint16_t> written = x;
  written[9] += 2;
  EXPECT_EQ(fault_of(expected, written), Fault::none);
  written[9] += 4;
  EXPECT_EQ(fault_of(expected, written), Fault::wrong);
}

TEST(Truth, AllowedPrecisionsWidenTheBudget) {
  const Matmul size{4, 16, 64};
  Task task = matmul_task(4, 16, 64);
  Judging plain(task, size);
  const InputSet set = plain.set(5);
  for (const char* const allowed : {"tf32", "f16_accumulate", "bf16_accumulate"}) {
    task.tolerance.allow = {allowed};
    Judging allowing(task, size);
    const Expected expected = allowing.expect(set.inputs);
    for (std::size_t i = 0; i < 64; ++i)
      EXPECT_GT(allowed_error(expected, i), 10 * allowed_error(set.outputs[2], i)) << allowed;
  }
}

TEST(Truth, EveryShapeIsJudgedByItsOwnTerms) {
  Task task = rows_task(1, 64);
  task.check = {{{"rows", 1}, {"cols", 2048}}};
  Judging judging(task, [](auto& call) { Softmax{call.in(0).size()}(call); });
  for (const std::size_t shape : {0U, 1U}) {
    const std::size_t cols = shape == 0 ? 64 : 2048;
    SecretStream random({1, 2});
    const Inputs zeros = {Bytes(cols * sizeof(float)), {}};
    const Expected expected = judging.truth->expect(shape, zeros, random).value()[1];
    // As many units of 1 / cols as there are terms.
    EXPECT_NEAR(allowed_error(expected, 3), 0x1p-24, 0x1p-30) << cols;
  }
}

TEST(Truth, ATensorThatIsReadAndWrittenIsReadFirst) {
  Task task =
      task_of({tensor("x", TensorRole::inout, {"n"}), tensor("y", TensorRole::in, {"n"})}, {{{"n", 200}}});
  Judging judging(task, [](auto& call) {
    for (std::size_t i = 0; i < 200; ++i) call.out(0)[i] += call.in(1)[i];
  });
  const InputSet set = judging.set(1);
  const auto x = values_of<float>(set.inputs[0]), y = values_of<float>(set.inputs[1]);
  std::vector<float> sum(200);
  for (std::size_t i = 0; i < 200; ++i) sum[i] = x[i] + y[i];
  EXPECT_EQ(fault_of(set.outputs[0], sum), Fault::none);
  EXPECT_TRUE(set.outputs[1].values.empty()) << "no output";
}

TEST(Truth, TheSameRecipeGivesTheSameSet) {
  Judging judging(rows_task(4, 64), Softmax{64});
  Truth other = judging.truth->another(judging.oracles).value();
  EXPECT_EQ(other.nature(), judging.truth->nature());
  const InputSet one = judging.set(1), same = other.make_set(0, one.recipe).value();
  EXPECT_EQ(one.inputs, same.inputs);
  EXPECT_EQ(one.outputs[1].values, same.outputs[1].values);
  EXPECT_EQ(one.outputs[1].weights, same.outputs[1].weights);
  EXPECT_EQ(one.outputs[1].rms_limit, same.outputs[1].rms_limit);
}

}  // namespace
}  // namespace kernelsmith::fake
