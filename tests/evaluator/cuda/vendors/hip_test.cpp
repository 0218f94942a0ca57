// The backend `hip` as far as it goes without a card: the machine's own hipcc, its code objects, and a plan.
#include "vendors/hip/hip.hpp"

#include <kernelsmith/sandbox/locate.hpp>

#include "planner/planner.hpp"
#include "toolchain/cuda_compiler.hpp"
#include "vendors/stand_in.hpp"

namespace kernelsmith::cuda {
namespace {

/// All examples as one source, whose entry is reduce's: hipcc takes seconds, mostly for its headers.
Task all_examples() {
  const std::filesystem::path folder = KERNELSMITH_EXAMPLES;
  std::string source =
      "#include <cmath>\n#include <hip/hip_bfloat16.h>\n#include <hip/hip_fp16.h>\n#include \"task.cuh\"\n";
  for (const Example& example : kExamples) {
    std::string text = kHip.translated(file_text(folder / example.name / "reference.cu"));
    for (const char* include : {"#include <cmath>", "#include \"task.cuh\""})
      text = replaced(text, include, "");
    source += "namespace " + example.name + " {\n" + text + "}\n";
  }
  return parse_task(kHip.translated(file_text(folder / "reduce_cuda/task.yaml")), "task.yaml",
                    [&](const std::string&) -> Result<std::string> { return source; })
      .value();
}

class Hip : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv(kHip.variable.c_str());  // the machine's
    ::setenv("KERNELSMITH_CACHE", KERNELSMITH_TEST_CACHE, 1);
    if (const auto toolkit = hip().toolchain.find({}); !toolkit) GTEST_SKIP() << describe(toolkit.error());
  }
};

plan::Call plan_of(const CudaBinary& binary) {
  PlannerSettings settings{locate_program("kernelsmith-hip-planner", "KERNELSMITH_HIP_PLANNER").value(),
                           hip().device.usual(),
                           {std::uint64_t{1} << 40, std::uint64_t{2} << 40, 1 << 20}};
  settings.names = hip().names;
  std::vector<plan::Kernel> kernels;
  for (const KernelFacts& facts : binary.facts().kernels) kernels.push_back(facts.kernel);
  const auto planner = Planner::start(settings, binary.host_library(), kernels, binary.facts().symbols, {});
  EXPECT_TRUE(planner);
  const std::vector<plan::Buffer> tensors = {{std::uint64_t{3} << 40, 4096, false},
                                             {std::uint64_t{4} << 40, 4, true}};
  const std::int64_t sizes[] = {1024};
  const auto call = (*planner)->plan(tensors, sizes, 10);
  EXPECT_TRUE(call);
  return call ? *call : plan::Call{};
}

/// Pointers and sizes of 64 bits, as the sources have them.
std::vector<plan::Parameter> parameters_of(const std::string& kernel) {
  const std::pair<const char*, std::uint32_t> counts[] = {
      {"softmax_row", 3}, {"sum_of_chunk", 3}, {"rmsnorm_row", 4}, {"product", 6}};
  std::vector<plan::Parameter> parameters;
  for (const auto& [name, count] : counts)
    if (kernel.find(name) != kernel.npos)
      for (std::uint32_t i = 0; i < count; ++i) parameters.push_back({8 * i, 8});
  return parameters;
}

TEST_F(Hip, ItsTableIsWhatItsHeaderDeclares) {
  const std::string root = KERNELSMITH_SOURCE_DIR;
  const std::string command = std::string(KERNELSMITH_CXX) + " -std=c++20 -fsyntax-only -I" + root +
                              "/evaluator/cuda -isystem '" + hip().toolchain.find({})->include.string() +
                              "' " + root + "/tests/evaluator/cuda/vendors/hip_abi_check.cpp";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST_F(Hip, TheExamplesBecomeCodeObjectsOfTwoArchitecturesAndAPlan) {
  const Task task = all_examples();
  for (const char* arch : {"gfx90a", "gfx1030"}) {
    const auto compiler = CudaCompiler::create(task, {.vendor = &hip(), .arch = arch}).value();
    const auto binary = compiler->build({task.reference, "reference"}).value();
    const std::vector<KernelFacts>& kernels = binary->facts().kernels;
    ASSERT_EQ(kernels.size(), std::size(kExamples)) << arch;
    for (const KernelFacts& facts : kernels) {
      EXPECT_EQ(facts.kernel.parameters, parameters_of(facts.kernel.name)) << facts.kernel.name;
      EXPECT_GT(facts.kernel.registers, 0U);
      EXPECT_GT(facts.kernel.static_shared, 0U);
    }
    // The sums of chunks, and their sum: launched from the host half that hipcc made.
    const plan::Call call = plan_of(*binary);
    ASSERT_EQ(call.operations.size(), 2U) << arch;
    EXPECT_EQ(std::get<plan::Launch>(call.operations[0].what).grid, (plan::Dim3{1024, 1, 1}));
    EXPECT_EQ(std::get<plan::Launch>(call.operations[1].what).block, (plan::Dim3{256, 1, 1}));
    EXPECT_EQ(call.call_workspace, 4096U);
  }
}

}  // namespace
}  // namespace kernelsmith::cuda
