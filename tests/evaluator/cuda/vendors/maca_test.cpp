// The backend `maca` from a source to a verdict, on stand-ins of MetaX's compiler and driver that carry
// kernels out.
#include <future>

#include "vendors/maca_bench.hpp"

namespace kernelsmith::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// An example of examples/ at sizes for a processor, and how its reference goes wrong.
struct Example {
  std::string name;
  std::vector<std::pair<std::string, std::string>> smaller;  ///< in task.yaml
  std::pair<std::string, std::string> wrong;                 ///< in reference.cu
};

const Example kExamples[] = {
    {"softmax_cuda",
     {{"sizes: {rows: 4096, cols: 2048}", "sizes: {rows: 8, cols: 96}"},
      {"timed: [{}, {rows: 1000, cols: 5000}]", "timed: [{}]"},
      {"check: [{rows: 3, cols: 1}, {rows: 300, cols: 5}, {rows: 17, cols: 1023}]",
       "check: [{rows: 3, cols: 1}, {rows: 5, cols: 130}]"}},
     {"expf(row[j] - most) / total;", "expf(row[j] - most) / (total + 0.01f);"}},
    {"reduce_cuda",
     {{"sizes: {n: 16777216}", "sizes: {n: 5000}"},
      {"timed: [{}, {n: 1000000}]", "timed: [{}]"},
      {"check: [{n: 1}, {n: 31}, {n: 65537}]", "check: [{n: 1}, {n: 31}, {n: 1025}]"}},
     {"i < n; i += gridDim.x", "i + 1 < n; i += gridDim.x"}},
    {"rmsnorm_cuda",
     {{"sizes: {rows: 8192, cols: 4096}", "sizes: {rows: 8, cols: 96}"},
      {"timed: [{}, {rows: 2000, cols: 3000}]", "timed: [{}]"},
      {"check: [{rows: 3, cols: 1}, {rows: 300, cols: 5}, {rows: 17, cols: 1023}]",
       "check: [{rows: 3, cols: 1}, {rows: 5, cols: 130}]"}},
     {"+ 1e-5f", "+ 1e-1f"}},
    {"matmul_bf16_cuda",
     {{"sizes: {m: 2048, n: 2048, k: 2048}", "sizes: {m: 32, n: 32, k: 32}"},
      {"timed: [{}, {m: 1024, n: 3072, k: 1536}]", "timed: [{}]"},
      {"check: [{m: 1, n: 1, k: 1}, {m: 65, n: 33, k: 17}, {m: 130, n: 70, k: 300}]",
       "check: [{m: 1, n: 1, k: 1}, {m: 20, n: 17, k: 19}]"}},
     {"in_a < k ?", "in_a + 1 < k ?"}},
};

/// Its reference is the seed too: every source costs the compiler a second.
Task task_of(const Example& example, std::string& reference) {
  const std::filesystem::path folder = std::filesystem::path(KERNELSMITH_EXAMPLES) / example.name;
  std::string yaml = in_maca(file_text(folder / "task.yaml"));
  for (const auto& [part, by] : example.smaller) {
    EXPECT_THAT(yaml, HasSubstr(part));
    yaml = replaced(yaml, part, by);
  }
  reference = in_maca(file_text(folder / "reference.cu"));
  reference =
      replaced(reference, "kThreads = 256", "kThreads = 64");  // a processor carries them out one by one
  reference = replaced(reference, "kBlocks = 1024", "kBlocks = 4");
  return parse_task(yaml, "task.yaml", [&](const std::string&) -> Result<std::string> { return reference; })
      .value();
}

Result<Evaluation> evaluate(const std::shared_ptr<Evaluator>& by, const Task& task, const std::string& text) {
  std::promise<Result<Evaluation>> promise;
  EvaluationJob job;
  job.task = task.digest;
  job.source = maca_source(text);
  by->start(std::move(job), {}, [&](Result<Evaluation> done) { promise.set_value(std::move(done)); });
  return promise.get_future().get();
}

class MacaExamples : public MacaTest, public ::testing::WithParamInterface<Example> {};

TEST_P(MacaExamples, IsAcceptedAndItsWrongTwinIsNot) {
  std::string text;
  const Task task = task_of(GetParam(), text);
  const auto made = make_cuda_evaluator(task, options());
  ASSERT_TRUE(made) << describe(made.error());
  const auto right = evaluate(*made, task, text + "// as the reference\n");
  ASSERT_TRUE(right) << describe(right.error());
  EXPECT_TRUE(right->accepted()) << right->rejection()->diagnostics;
  EXPECT_THAT(right->report().hardware, HasSubstr("MetaX stand-in, driver for MACA 3.5"));
  EXPECT_THAT(right->report().toolchain, HasSubstr("mxcc 1.0.0 --offload-arch=xcore1000"));

  const auto& [part, by] = GetParam().wrong;
  ASSERT_THAT(text, HasSubstr(part));
  const auto wrong = evaluate(*made, task, replaced(text, part, by));
  ASSERT_TRUE(wrong) << describe(wrong.error());
  ASSERT_FALSE(wrong->accepted());
  EXPECT_EQ(name_of(wrong->rejection()->stage), name_of(Stage::correctness))
      << wrong->rejection()->diagnostics;
}

INSTANTIATE_TEST_SUITE_P(Examples, MacaExamples, ::testing::ValuesIn(kExamples),
                         [](const auto& test) { return test.param.name; });

TEST_F(MacaTest, ARefusalSpeaksOfMacasFunctions) {
  std::string text;
  const Task task = task_of(kExamples[0], text);
  const std::string graph = replaced(text, "softmax_row<<<",
                                     "void* graph = nullptr;\n  mcGraphCreate(&graph, 0);\n  softmax_row<<<");
  const auto plan = describe_cuda_plan(task, maca_source(graph), options());
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message,
              HasSubstr("mcGraphCreate: a plan cannot hold graphs of the candidate's own"));
  const auto told = describe_cuda_plan(task, maca_source(text), options());
  ASSERT_TRUE(told) << describe(told.error());
  EXPECT_THAT(*told, AllOf(HasSubstr("softmax_row"), HasSubstr("grid 8x1x1, block 64x1x1"),
                           HasSubstr("24 registers")));
}

TEST_F(MacaTest, WithoutTheSdkItIsSaidHowToGetIt) {
  ::setenv("MACA_PATH", "/nowhere", 1);
  std::string text;
  const auto made = make_cuda_evaluator(task_of(kExamples[0], text), options());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::tool_missing);
  EXPECT_THAT(describe(made.error()),
              AllOf(HasSubstr("mxcc"), HasSubstr("/nowhere"), HasSubstr("MACA_PATH")));
}

}  // namespace
}  // namespace kernelsmith::cuda
