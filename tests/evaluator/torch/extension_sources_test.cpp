// From source to plan with PyTorch's own planner and this machine's compilers, in their sandboxes. No GPU.
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

constexpr const char* kReference = R"(
import torch
class Model(torch.nn.Module):
    def forward(self, x, y):
        return x + y
def get_inputs():
    return [torch.randn(1000, 37), torch.randn(1000, 37)]
def get_init_inputs():
    return []
)";

constexpr const char* kCandidate = R"(
import torch
from torch.utils.cpp_extension import load_inline
source = """
#include <torch/extension.h>
__global__ void add_kernel(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i]BROKEN;
}
torch::Tensor add(torch::Tensor x, torch::Tensor y) {
  auto out = torch::empty_like(x);
  int n = x.numel();
  add_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
"""
TRY
class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return added.add(x, y) if added is not None else x + y
)";

constexpr const char* kBuild =
    R"(load_inline("added", "torch::Tensor add(torch::Tensor x, torch::Tensor y);", source, functions=["add"]))";

std::string candidate(const std::string& broken, bool caught) {
  std::string text = kCandidate;
  const auto replace = [&](const std::string& part, const std::string& by) {
    text.replace(text.find(part), part.size(), by);
  };
  replace("BROKEN", broken);
  const std::string build = std::string("added = ") + kBuild;
  replace("TRY", caught ? "try:\n    " + build + "\nexcept Exception:\n    added = None" : build);
  return text;
}

Result<std::string> plan(const std::string& text) {
  Task task;
  task.backend = "torch";
  task.reference = Source::create({{"reference.py", kReference}}).value();
  TorchOptions options;
  options.python = KERNELSMITH_TEST_PYTHON;
  return describe_torch_plan(task, Source::create({{"candidate.py", text}}).value(), options);
}

/// Whether this machine lacks PyTorch, Triton or nvcc.
bool cannot_plan(const Result<std::string>& planned) {
  return !planned && planned.error().code != ErrorCode::refused;
}

TEST(ExtensionSources, AKernelIsPlanned) {
  const auto planned = plan(candidate("", false));
  if (cannot_plan(planned)) GTEST_SKIP() << describe(planned.error());
  ASSERT_TRUE(planned) << describe(planned.error());
  EXPECT_THAT(*planned, HasSubstr("add_kernel"));
}

TEST(ExtensionSources, ACompilersErrorIsTheReasonEvenBehindAnExcept) {
  for (const bool caught : {false, true}) {
    const auto refused = plan(candidate(" + nobody", caught));
    if (cannot_plan(refused)) GTEST_SKIP() << describe(refused.error());
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("compile_failed"), HasSubstr("identifier \"nobody\" is undefined"),
                      HasSubstr(caught ? "launches no kernel of its own"
                                       : "the extension 'added' does not compile")));
  }
}

}  // namespace
}  // namespace kernelsmith
