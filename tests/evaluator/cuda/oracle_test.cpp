// The GPU oracle (cuda_oracle.hpp) on a driver that executes kernels on the host.
#include "cuda_oracle.hpp"
#include "glue_bench.hpp"

namespace kernelsmith::cuda {
namespace {

template <class Real>
void twice_of(const KernelCall& call) {
  for (std::int64_t i = 0; i < call.sizes[0]; ++i) call.as<Real>(kY)[i] = 2 * call.as<Real>(kX)[i];
}

struct OracleBench {
  explicit OracleBench(Task made = doubling_task()) : glue(std::move(made)) {
    setup = {glue.task, std::make_shared<const std::vector<TaskShape>>(glue.shapes), glue.device,
             std::make_shared<OracleRunner>(), glue.planner.function()};
    setup.runner->start = runner_start(glue.grid);
  }
  std::unique_ptr<CudaOracle> oracle(const FakeKernel& reference,
                                     OraclePrecision precision = OraclePrecision::declared) {
    return CudaOracle::create(setup, glue.kernel("reference", reference), precision).value();
  }
  /// Elements of a tensor.
  template <class Real>
  static std::span<Real> reals(std::span<std::byte> bytes) {
    return {reinterpret_cast<Real*>(bytes.data()), bytes.size() / sizeof(Real)};
  }
  template <class Real>
  static std::vector<Real> output(CudaOracle& of, std::size_t shape) {
    const auto bytes = of.output(shape, kY);
    const auto* const first = reinterpret_cast<const Real*>(bytes.data());
    return {first, first + bytes.size() / sizeof(Real)};
  }

  GlueBench glue;
  CudaOracle::Setup setup;
};

TEST(CudaOracle, AnswersAtEveryShape) {
  OracleBench bench;
  auto oracle = bench.oracle(twice);
  for (const std::size_t shape : {kTimed, kChecked})
    for (const float value : {3.0F, 5.0F}) {
      std::ranges::fill(OracleBench::reals<float>(oracle->input(shape, kX)), value);
      ASSERT_TRUE(oracle->answer(shape));
      EXPECT_THAT(OracleBench::output<float>(*oracle, shape), Each(2 * value));
    }
  EXPECT_EQ(bench.glue.grid.kept.size(), 2) << "a plan for each shape";
}

TEST(CudaOracle, ComputesInDoublesWhereItIsAskedTo) {
  OracleBench bench;
  auto oracle = bench.oracle(twice_of<double>, OraclePrecision::f64);
  EXPECT_EQ(oracle->input(kChecked, kX).size(), 7 * sizeof(double));
  std::ranges::fill(OracleBench::reals<double>(oracle->input(kChecked, kX)), 0.1);
  ASSERT_TRUE(oracle->answer(kChecked));
  EXPECT_THAT(OracleBench::output<double>(*oracle, kChecked), Each(0.2));
}

TEST(CudaOracle, OutputsBeginWithZeros) {
  OracleBench bench;
  auto oracle = bench.oracle([](const KernelCall& call) { call.as<float>(kY)[0] += 1; });
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(oracle->answer(kChecked));
    EXPECT_THAT(OracleBench::output<float>(*oracle, kChecked), ElementsAre(1, 0, 0, 0, 0, 0, 0));
  }
}

TEST(CudaOracle, AnInoutTensorIsGivenAndTaken) {
  OracleBench bench(doubling_task(Dtype::f32, TensorRole::inout));
  auto oracle = bench.oracle([](const KernelCall& call) { call.as<float>(kY)[6] += 1; });
  std::ranges::fill(OracleBench::reals<float>(oracle->input(kChecked, kY)), 4.0F);
  ASSERT_TRUE(oracle->answer(kChecked));
  EXPECT_THAT(OracleBench::output<float>(*oracle, kChecked), ElementsAre(4, 4, 4, 4, 4, 4, 5));
}

TEST(CudaOracle, AReferenceThatCannotBePlannedIsRefused) {
  OracleBench bench;
  bench.glue.planner.refused.emplace("reference", reject(Stage::plan, RejectionCode::plan_failed, "malloc"));
  const auto oracle =
      CudaOracle::create(bench.setup, bench.glue.kernel("reference", twice), OraclePrecision::declared);
  EXPECT_EQ(oracle.error().code, ErrorCode::refused);
  EXPECT_THAT(oracle.error().message, HasSubstr("malloc"));
}

TEST(CudaOracle, AReferenceThatCrashesIsRefusedWithItsShape) {
  OracleBench bench;
  auto oracle = bench.oracle([](const KernelCall&) { throw Crash{}; });
  const auto answer = oracle->answer(kChecked);
  EXPECT_EQ(answer.error().code, ErrorCode::refused);
  EXPECT_THAT(answer.error().message,
              HasSubstr("the task's reference fails at n=7: an illegal memory access"));
}

TEST(CudaOracle, TheNextOracleGetsARunnerThatLives) {
  OracleBench bench;
  bool crash = true;
  const FakeKernel reference = [&](const KernelCall& call) {
    if (std::exchange(crash, false)) throw Crash{};
    twice(call);
  };
  auto first = bench.oracle(reference);
  EXPECT_FALSE(first->answer(kChecked));
  auto second = bench.oracle(reference);
  std::ranges::fill(OracleBench::reals<float>(second->input(kChecked, kX)), 3.0F);
  ASSERT_TRUE(second->answer(kChecked));
  EXPECT_THAT(OracleBench::output<float>(*second, kChecked), Each(6));
  EXPECT_FALSE(first->answer(kChecked)) << "its buffers are mapped in the dead one";
}

TEST(CudaOracle, TakesItsPlansAndMemoryWithIt) {
  OracleBench bench;
  auto oracle = bench.oracle(twice), other = bench.oracle(twice);
  ASSERT_TRUE(oracle->answer(kTimed));
  oracle.reset();
  EXPECT_EQ(bench.glue.grid.forgotten, 1);
  EXPECT_EQ(bench.glue.grid.unmapped, 2);
  EXPECT_TRUE(other->answer(kTimed));
  other.reset();
  EXPECT_EQ(bench.glue.device->in_use(), 0);
}

}  // namespace
}  // namespace kernelsmith::cuda
