// Whole evaluations of the examples, from a source to a verdict, on the stand-ins of each vendor's driver:
// they carry kernels out.
#include <span>

#include "vendors/stand_in.hpp"

namespace kernelsmith::cuda {
namespace {

using ::testing::Combine;
using ::testing::Values;
using ::testing::ValuesIn;

const std::span<const Example> kChosen = std::span(kExamples).first(kAll ? std::size(kExamples) : 1);

class VendorExamples : public ::testing::TestWithParam<std::tuple<StandIn, Example>> {};

TEST_P(VendorExamples, IsAcceptedAndItsWrongTwinIsNot) {
  const auto& [stand_in, example] = GetParam();
  use(stand_in);
  if (const std::string why = missing(stand_in); !why.empty()) GTEST_SKIP() << why;
  const Task task = task_of(stand_in, example);
  const std::string text = reference_of(stand_in, example);
  const auto made = make_cuda_evaluator(task, options_for(stand_in)).value();
  const Report right = accepted(evaluate(made, task, text + "// as the reference\n")).report();
  EXPECT_THAT(right.hardware, HasSubstr(stand_in.hardware));
  EXPECT_THAT(right.toolchain, HasSubstr(stand_in.toolchain));

  if (!kAll && stand_in.backend == "hip") return;  // its compiler takes seconds
  const auto& [part, by] = example.wrong;
  ASSERT_THAT(text, HasSubstr(part));
  const Rejection wrong = rejection_of(evaluate(made, task, replaced(text, part, by)));
  EXPECT_EQ(name_of(wrong.stage), name_of(Stage::correctness)) << wrong.diagnostics;
}

#ifdef KERNELSMITH_ALL_EXAMPLES
/// A failure in the judge's process is the machine's, and the next evaluation is well. Each one compiles, so
/// that one vendor has to do.
TEST(VendorEvaluations, AFunctionThatFailsOnceCostsOneEvaluationAtMost) {
  const DriverOfTest driver = use(kMaca);
  const Task task = task_of(kMaca, kExamples[0]);
  const std::string text = reference_of(kMaca, kExamples[0]);
  const auto made = make_cuda_evaluator(task, options_for(kMaca)).value();
  int number = 0;
  const auto evaluated = [&] {  // another binary each time: the same one is not measured again
    const std::string other = std::to_string(++number);
    return evaluate(made, task,
                    text + "extern \"C\" __global__ void other(int* x) { *x = " + other + "; }\n");
  };
  const auto folder = ScratchFolder::create().value();
  driver.count_anew();
  ::setenv("KERNELSMITH_STAND_IN_LOG", (folder.path() / "calls").c_str(), 1);
  ASSERT_TRUE(evaluated());
  ::unsetenv("KERNELSMITH_STAND_IN_LOG");
  const auto names = functions_in(folder.path() / "calls", true);
  EXPECT_GT(names.size(), 6U);
  for (const std::string& name : names) {
    driver.count_anew();
    ::setenv("KERNELSMITH_STAND_IN_FAIL", (name + ":1").c_str(), 1);
    const auto got = evaluated();
    ::unsetenv("KERNELSMITH_STAND_IN_FAIL");
    if (got)
      EXPECT_TRUE(got->accepted()) << name << ": " << got->rejection()->diagnostics;
    else
      EXPECT_THAT(describe(got.error()), HasSubstr(name + ": a failure that the test asked for"));
    const auto next = evaluated();
    EXPECT_TRUE(next && next->accepted()) << name;
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Examples, VendorExamples, Combine(Values(kMaca, kHip), ValuesIn(kChosen)),
                         [](const auto& test) {
                           return std::get<0>(test.param).backend + "_" + std::get<1>(test.param).name;
                         });

}  // namespace
}  // namespace kernelsmith::cuda
