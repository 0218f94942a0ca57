// What the backend `maca` says of MACA: in refusals, in plans, and when its SDK is missing.
#include "vendors/stand_in.hpp"

namespace kernelsmith::cuda {
namespace {

TEST(Maca, ARefusalSpeaksOfMacasFunctions) {
  use(kMaca);
  const std::string text = reference_of(kMaca, kExamples[0]);
  const Task task = task_of(kMaca, kExamples[0]);
  const std::string graph = replaced(text, "softmax_row<<<",
                                     "void* graph = nullptr;\n  mcGraphCreate(&graph, 0);\n  softmax_row<<<");
  const auto plan = describe_cuda_plan(task, source_of(graph), options_for(kMaca));
  EXPECT_THAT(plan.error().message,
              HasSubstr("mcGraphCreate: a plan cannot hold graphs of the candidate's own"));
  const auto told = describe_cuda_plan(task, source_of(text), options_for(kMaca)).value();
  EXPECT_THAT(told, AllOf(HasSubstr("softmax_row"), HasSubstr("grid 8x1x1, block 64x1x1"),
                          HasSubstr("24 registers")));
}

TEST(Maca, WithoutTheSdkItIsSaidHowToGetIt) {
  use(kMaca);
  ::setenv("MACA_PATH", "/nowhere", 1);
  const auto made = make_cuda_evaluator(task_of(kMaca, kExamples[0]), options_for(kMaca));
  EXPECT_EQ(made.error().code, ErrorCode::tool_missing);
  EXPECT_THAT(describe(made.error()),
              AllOf(HasSubstr("mxcc"), HasSubstr("/nowhere"), HasSubstr("MACA_PATH")));
}

}  // namespace
}  // namespace kernelsmith::cuda
