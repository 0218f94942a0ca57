// The backend `hip` as far as it goes without a card: the machine's own hipcc, its code objects, and plans.
#include "vendors/hip/hip.hpp"

#include "toolchain/cuda_compiler.hpp"
#include "vendors/maca_bench.hpp"

namespace kernelsmith::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string in_hip(std::string text) {
  text = replaced(text, "backend: cuda", "backend: hip");
  for (const char* name : {"Stream_t", "MallocAsync", "FreeAsync"})
    text = replaced(text, "cuda" + std::string(name), "hip" + std::string(name));
  text = replaced(text, "__float2bfloat16(", "hip_bfloat16(");
  text = replaced(text, "__bfloat162float(", "static_cast<float>(");
  return replaced(text, "__nv_bfloat16", "hip_bfloat16");
}

Task task_of(const std::string& example) {
  const std::filesystem::path folder = std::filesystem::path(KERNELSMITH_EXAMPLES) / example;
  return parse_task(in_hip(file_text(folder / "task.yaml")), "task.yaml",
                    [&](const std::string&) -> Result<std::string> {
                      return in_hip(file_text(folder / "reference.cu"));
                    })
      .value();
}

class Hip : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("KERNELSMITH_CACHE", KERNELSMITH_TEST_CACHE, 1);
    if (const auto toolkit = hip().toolchain.find({}); !toolkit) GTEST_SKIP() << describe(toolkit.error());
  }
};

TEST_F(Hip, EveryExampleBecomesACodeObjectOfTwoArchitectures) {
  for (const char* example : {"softmax_cuda", "reduce_cuda", "rmsnorm_cuda", "matmul_bf16_cuda"})
    for (const char* arch : {"gfx90a", "gfx1030"}) {
      const Task task = task_of(example);
      const auto compiler = CudaCompiler::create(task, {.vendor = &hip(), .arch = arch});
      ASSERT_TRUE(compiler) << describe(compiler.error());
      const auto binary = (*compiler)->build({task.reference, "reference"});
      ASSERT_TRUE(binary) << example << " for " << arch << ": " << describe(binary.error());
      ASSERT_EQ((*binary)->facts().kernels.size(), 1U);
      const plan::Kernel& kernel = (*binary)->facts().kernels.front().kernel;
      EXPECT_GE(kernel.parameters.size(), 3U) << kernel.name;
      EXPECT_EQ(kernel.parameters.front(), (plan::Parameter{0, 8}));
      EXPECT_GT(kernel.registers, 0U);
      EXPECT_GT(kernel.static_shared, 0U);
    }
}

TEST_F(Hip, ACandidateIsPlanned) {
  CudaOptions options = usual_options(hip());
  options.buffer_bytes = std::size_t{1} << 20;
  const Task task = task_of("reduce_cuda");
  const auto plan = describe_cuda_plan(task, task.reference, options);
  ASSERT_TRUE(plan) << describe(plan.error());
  EXPECT_THAT(*plan,
              AllOf(HasSubstr("sum_of_chunk"), HasSubstr("grid 1024x1x1, block 256x1x1"), HasSubstr("(x, ")));
}

}  // namespace
}  // namespace kernelsmith::cuda
