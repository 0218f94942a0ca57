// The cpu backend end to end: what is accepted, and what its reports say.
#include <kernelsmith/sandbox/scratch_folder.hpp>

#include "bench.hpp"

namespace kernelsmith {
namespace {

TEST(CpuEvaluator, AcceptsHonestKernelsAndReportsThem) {
  Bench bench;
  const Evaluation answer = accepted(bench.evaluate(kernel(kHonest)));
  const Report& report = answer.report();
  EXPECT_TRUE(report.tier == "full" || report.tier == "weak") << report.tier;
  EXPECT_THAT(report.toolchain, HasSubstr("g++"));
  EXPECT_FALSE(report.hardware.empty());
  EXPECT_GT(report.spent_ms.at("timing"), 0);
  ASSERT_EQ(report.shapes.size(), 4U);
  for (const ShapeResult& shape : report.shapes) {
    EXPECT_EQ(shape.correct, true) << shape.shape;
    EXPECT_LE(shape.error, 1) << shape.shape;
    EXPECT_EQ(shape.speedup.has_value(), shape.timed) << shape.shape;
  }
  EXPECT_EQ(report.shapes.front().shape, "cols=256 rows=160");
  // The candidate is the seed, and the seed's work is the baseline's. How near to one is for benchmarks to
  // say.
  EXPECT_GT(answer.metrics()->fitness().median, 0.5);
  EXPECT_LT(answer.metrics()->fitness().median, 2);
  EXPECT_LE(report.speedup->low, report.speedup->median);
  // The yardstick is the seed here.
  ASSERT_TRUE(report.over_yardstick.has_value());
  EXPECT_GT(report.over_yardstick->median, 0.2);
  EXPECT_LT(report.over_yardstick->median, 5);
  EXPECT_LE(report.over_yardstick->low, report.over_yardstick->median);
  EXPECT_GT(answer.metrics()->features().at("runtime_us"), 0);
  EXPECT_GT(answer.metrics()->features().at("compile_ms"), 0);
  EXPECT_FALSE(answer.metrics()->features().contains("peak_memory")) << "the memory is the host's";
}

TEST(CpuEvaluator, AConstantTensorAndWarmCachesChangeNoVerdict) {
  Bench bench(task_with({}, yaml_with("init: normal", "constant: true") + "cache: warm\n"));
  expect_accepted(bench, kernel(kHonest));
  // With every input the same, what is kept from the first call is right.
  expect_accepted(bench,
                  "static float kept[40960]; static int calls, wide;\n" +
                      kernel("if (cols != 256) {" + kHonest + "return; } if (calls++ == 0) {" + kHonest +
                             "for (int i = 0; i < 40960; ++i) kept[i] = y[i]; } else "
                             "for (int i = 0; i < 40960; ++i) y[i] = kept[i]; (void)wide;"));
}

TEST(CpuEvaluator, DuelsAndPools) {
  Bench bench;
  const std::string slow =
      kernel("for (int again = 0; again < 4; ++again) { asm volatile(\"\" ::: \"memory\");" + kHonest + "}");
  EvaluationJob duel = bench.job(kernel(kHonest));
  duel.remeasurement = Remeasurement::duel;
  duel.rival = Rival{ProgramId{1}, Source::create({{"seed.cpp", slow}}).value()};
  const auto samples = [&] { return accepted(bench.evaluate(kernel(kHonest))).metrics()->fitness().samples; };
  const auto once = samples();
  const Report fought = accepted(bench.evaluate(duel)).report();
  ASSERT_TRUE(fought.duel.has_value());
  EXPECT_GT(fought.duel->median, 1.5);
  EXPECT_LT(fought.duel->median, 10);
  EXPECT_GT(samples(), once) << "evaluations of one binary are pooled";

  EvaluationJob confirm = bench.job(kernel(kHonest));
  confirm.remeasurement = Remeasurement::confirm;
  accepted(bench.evaluate(confirm));
}

Error setup_error(const Task& task, CpuOptions options = quick()) {
  return make_cpu_evaluator(task, std::move(options)).error();
}

TEST(CpuEvaluator, SaysWhatATaskAsksForInVain) {
  Error error =
      setup_error(task_with({}, kTask + "declared: {operations: \"1\", operations_are_minimal: true}\n"));
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(describe(error), HasSubstr("operations_are_minimal"));

  Task half = task_with({});  // as a program may make it; a task.yaml is refused before
  half.tensors.front().dtype = Dtype::f16;
  error = setup_error(half);
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(describe(error), HasSubstr("f16"));
}

TEST(CpuEvaluator, SaysWhatTheMachineLacks) {
  CpuOptions options = quick();
  options.compiler = "no-such-compiler";
  Error error = setup_error(task_with({}), options);
  EXPECT_EQ(error.code, ErrorCode::tool_missing);
  EXPECT_THAT(error.hint, HasSubstr("evaluator.compiler"));

  options.compiler = "/bin/true";
  error = setup_error(task_with({}), options);
  EXPECT_EQ(error.code, ErrorCode::tool_failed);
  EXPECT_THAT(describe(error), AllOf(HasSubstr("/bin/true"), Not(HasSubstr("shim"))));
  EXPECT_THAT(error.hint, HasSubstr("evaluator.compiler"));

  options = quick();
  options.runner = "/nonexistent/kernelsmith-runner";
  error = setup_error(task_with({}), options);
  EXPECT_EQ(error.code, ErrorCode::tool_missing);
  EXPECT_THAT(describe(error), HasSubstr("/nonexistent/kernelsmith-runner"));
}

TEST(CpuEvaluator, TheHeaderDeclaresTensorsThenSizesInTheirOrder) {
  EXPECT_THAT(
      cpu_task_header(task_with({})),
      HasSubstr("extern \"C\" void scaled(const float* __restrict x, float* __restrict y, std::int64_t rows, "
                "std::int64_t cols);"));
}

TEST(CpuEvaluator, GeneratesInputsByTheTasksOwnGenerator) {
  Task task =
      parse_task(R"(version: 1
name: gather
backend: cpu
entry: gather
files: {reference: reference.cpp, inputs: inputs.cpp}
sizes: {rows: 4096, cols: 64}
tensors:
  - {name: x, role: in, dtype: f32, shape: [rows, cols]}
  - {name: at, role: in, dtype: i32, shape: [rows], init: generated}
  - {name: y, role: out, dtype: f32, shape: [rows]}
check: [{rows: 3, cols: 5}]
)",
                 "task.yaml",
                 [](const std::string& path) -> Result<std::string> {
                   if (path == "inputs.cpp")
                     return std::string(
                         "#include \"task.hpp\"\nvoid gather_inputs(const float*, std::int32_t* at, "
                         "std::int64_t rows, std::int64_t cols, std::uint64_t seed) {\n"
                         "  for (std::int64_t r = 0; r < rows; ++r) at[r] = std::int32_t((seed + "
                         "std::uint64_t(r) * 7) % std::uint64_t(cols));\n}\n");
                   return std::string(
                       "#include \"task.hpp\"\nvoid gather(const float* x, const std::int32_t* at, float* "
                       "y, std::int64_t rows, std::int64_t cols) {\n  for (std::int64_t r = 0; r < rows; "
                       "++r) y[r] = x[r * cols + at[r]];\n}\n");
                 })
          .value();
  const std::string reference(task.reference.main_text());
  Bench bench(std::move(task));
  expect_accepted(bench, reference);
  std::string first = reference;
  first.replace(first.find("+ at[r]"), 7, "+ at[0]");
  expect_rejection(bench, first, RejectionCode::wrong_output);
}

}  // namespace
}  // namespace kernelsmith
