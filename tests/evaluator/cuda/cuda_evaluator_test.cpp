// The backend with the machine's nvcc and planner, and without a GPU: on a machine that has one it is hidden.
#include <cstdlib>
#include <future>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

#include "testing.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace kernelsmith::cuda {
namespace {

const std::string kYaml = R"(version: 1
name: twice
backend: cuda
entry: twice
files: {reference: reference.cu, seed: seed.cu}
sizes: {n: 4096}
tensors:
  - {name: x, role: in,  dtype: f32, shape: [n], init: normal}
  - {name: y, role: out, dtype: f32, shape: [n]}
timed: [{}]
check: [{n: 1}, {n: 777}]
)";

/// A kernel that doubles with blocks of so many threads, and the entry with `body` for its launch.
std::string kernel(const std::string& body, const std::string& entry = "twice") {
  return R"(#include "task.cuh"
__global__ void doubling(const float* x, float* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void )" +
         entry + "(const float* x, float* y, std::int64_t n, cudaStream_t stream) {\n" + body + "\n}\n";
}

const std::string kRight = kernel("doubling<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);");

Task task(const std::string& reference = kRight, const std::string& seed = kRight,
          const std::string& yaml = kYaml) {
  return parse_task(yaml, "task.yaml",
                    [&](const std::string& path) -> Result<std::string> {
                      return path == "seed.cu" ? seed : reference;
                    })
      .value();
}

Source source(const std::string& text) { return Source::create({{"kernel.cu", text}}).value(); }

/// What is built of the task's own sources is kept in the build folder: each test is a process of its own.
class CudaEvaluator : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("KERNELSMITH_CACHE", KERNELSMITH_TEST_CACHE, 1);
    ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
    if (const auto toolkit = find_toolkit(); !toolkit) GTEST_SKIP() << describe(toolkit.error());
  }

  static std::shared_ptr<Backend> backend() {
    return make_cuda_backend(std::make_shared<const Task>(task())).value();
  }
  static Rejection refused(Backend& by, const std::string& text) {
    const auto compilation = by.compile(source(text), {});
    if (!compilation || compilation->rejection() == nullptr) {
      ADD_FAILURE() << (compilation ? "accepted" : describe(compilation.error()));
      return {};
    }
    return *compilation->rejection();
  }
  static Error error_of(const Task& task) {
    const auto made = make_cuda_evaluator(task);
    if (made) ADD_FAILURE() << "an evaluator was made";
    return made ? Error{} : made.error();
  }
};

TEST_F(CudaEvaluator, WhatIsRightIsPlannedAndEndsForWantOfAGpu) {
  const Task made = task();
  const auto evaluator = make_cuda_evaluator(made).value();
  EvaluationJob job;
  job.task = made.digest;
  job.source = made.seed;
  const auto evaluation =
      answer_of<Evaluation>([&](auto done) { evaluator->start(std::move(job), {}, std::move(done)); }).get();
  EXPECT_EQ(evaluation.error().code, ErrorCode::unsupported);
  EXPECT_THAT(evaluation.error().message,
              HasSubstr("was compiled and planned, but there is no GPU to run it on"));
}

TEST_F(CudaEvaluator, ACompilationTellsFeaturesKernelsAndPlan) {
  const auto compilation = backend()->compile(source(kRight), {});
  ASSERT_TRUE(compilation);
  ASSERT_NE(compilation->binary(), nullptr) << compilation->rejection()->diagnostics;
  EXPECT_EQ(compilation->features.at("launches"), 1);
  EXPECT_GT(compilation->features.at("registers"), 0);
  std::map<std::string, std::string> artifacts;
  for (const Artifact& artifact : compilation->report.artifacts) artifacts[artifact.name] = artifact.text;
  EXPECT_THAT(artifacts["kernels.txt"],
              AllOf(HasSubstr("doubling"), HasSubstr("grid 16x1x1, block 256x1x1")));
  EXPECT_THAT(artifacts["plan.txt"], HasSubstr("(x, y, 4096)"));
  EXPECT_THAT(compilation->report.toolchain, HasSubstr("nvcc"));
  EXPECT_EQ(compilation->report.spent_ms.count("plan"), 1);
}

/// One evaluator for all: each candidate costs nvcc about a second.
TEST_F(CudaEvaluator, ACandidateIsRejectedWhereItGoesWrong) {
  const auto by = backend();
  const struct {
    std::string text;
    Stage stage;
    RejectionCode code;
    std::string says;
  } cases[] = {
      {kernel("doubling<<<16, 256, 0, stream>>>(x, y);"), Stage::compile, RejectionCode::compile_failed,
       "too few arguments"},
      {kernel("doubling<<<16, 256, 0, stream>>>(x, y, n);", "other"), Stage::compile,
       RejectionCode::entry_missing, "twice"},
      {kernel("doubling<<<16, 2048, 0, stream>>>(x, y, n);"), Stage::plan, RejectionCode::plan_failed,
       "1024"},
      {kernel("if (n == 777) *reinterpret_cast<volatile int*>(16) = 1; doubling<<<16, 256, 0, stream>>>(x, "
              "y, n);"),
       Stage::plan, RejectionCode::crashed, "(at n=777)"},
  };
  std::vector<std::future<Rejection>> rejections;
  for (const auto& each : cases)
    rejections.push_back(std::async(std::launch::async, [&] { return refused(*by, each.text); }));
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const Rejection rejection = rejections[i].get();
    EXPECT_EQ(name_of(rejection.stage), name_of(cases[i].stage)) << rejection.diagnostics;
    EXPECT_EQ(name_of(rejection.code), name_of(cases[i].code)) << rejection.diagnostics;
    EXPECT_THAT(rejection.diagnostics, HasSubstr(cases[i].says));
    EXPECT_THAT(rejection.report.toolchain, HasSubstr("nvcc"));
  }
}

TEST_F(CudaEvaluator, ATaskWhoseOwnKernelCannotBePlannedIsRefused) {
  const Error seed = error_of(task(kRight, kernel("doubling<<<0, 256, 0, stream>>>(x, y, n);")));
  EXPECT_EQ(seed.code, ErrorCode::refused);
  EXPECT_THAT(describe(seed),
              AllOf(HasSubstr("the task's seed cannot be planned"), HasSubstr("files: seed")));
  const Error reference = error_of(task("int broken", kRight));
  EXPECT_EQ(reference.code, ErrorCode::refused);
  EXPECT_THAT(describe(reference), HasSubstr("reference"));
}

TEST_F(CudaEvaluator, WhatTheBackendDoesNotSupportIsSaidBeforeAnythingIsCompiled) {
  Task cpu = task();
  cpu.backend = "cpu";
  EXPECT_THAT(error_of(cpu).message, HasSubstr("is for the backend 'cpu'"));
  Task minimal = task();
  minimal.declared.operations_are_minimal = true;
  EXPECT_EQ(error_of(minimal).code, ErrorCode::unsupported);
  Task generated = task();
  generated.inputs = source("int main() {}");
  EXPECT_THAT(describe(error_of(generated)), HasSubstr("files: inputs"));
}

TEST_F(CudaEvaluator, APlanIsDescribed) {
  const auto text =
      describe_cuda_plan(task(), source(kernel("cudaMemsetAsync(y, 0, 4 * n, stream);\n"
                                               "doubling<<<(n + 127) / 128, 128, 0, stream>>>(x, y, n);")));
  ASSERT_TRUE(text) << describe(text.error());
  EXPECT_THAT(*text, AllOf(HasSubstr("grid 32x1x1, block 128x1x1"),
                           HasSubstr("1: set 16384 elements of 1 byte at y to 0x0"),
                           HasSubstr("2: launch doubling"), HasSubstr("(x, y, 4096)")));
  const auto wrong = describe_cuda_plan(task(), source("int broken"));
  EXPECT_EQ(wrong.error().code, ErrorCode::refused);
  EXPECT_THAT(wrong.error().message, HasSubstr("compile_failed: "));
}

TEST_F(CudaEvaluator, ThePrecisionOfATaskNeedsAGpu) {
  EXPECT_EQ(check_cuda_precision(task()).error().code, ErrorCode::unsupported);
  EXPECT_EQ(cuda_hardware(), "no GPU");
}

TEST(CudaEvaluatorWithoutNvcc, IsToldByName) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  CudaOptions options;
  options.toolkit = "/nowhere";
  const auto made = make_cuda_evaluator(task(), options);
  EXPECT_EQ(made.error().code, ErrorCode::tool_missing);
  EXPECT_THAT(describe(made.error()), HasSubstr("/nowhere"));
}

TEST(CudaEvaluatorWithoutPlanner, IsToldByName) {
  ::setenv("KERNELSMITH_CUDA_PLANNER", "/nowhere/planner", 1);
  const auto made = make_cuda_evaluator(task());
  ::unsetenv("KERNELSMITH_CUDA_PLANNER");
  EXPECT_EQ(made.error().code, ErrorCode::tool_missing);
  EXPECT_THAT(describe(made.error()), HasSubstr("/nowhere/planner"));
}

}  // namespace
}  // namespace kernelsmith::cuda
