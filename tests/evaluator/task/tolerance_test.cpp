// The key `tolerance`.
#include "task_yaml.hpp"

namespace kernelsmith {
namespace {

std::string with_tolerance(const std::string& value) {
  return with("tolerance: {policy: auto, allow: [reassociate]}", "tolerance: " + value);
}

Tolerance tolerance_of(const std::string& value) { return good(with_tolerance(value)).tolerance; }

TEST(TaskTolerance, IsAutoWhereNothingIsSaid) {
  const Tolerance tolerance = good(with("tolerance: {policy: auto, allow: [reassociate]}\n", "")).tolerance;
  EXPECT_EQ(tolerance.policy, "auto");
  EXPECT_TRUE(tolerance.allow.empty());
}

TEST(TaskTolerance, ANumberIsBothFiguresOfAllclose) {
  for (const char* text : {"1e-5", "0.00001"}) {
    const Tolerance tolerance = tolerance_of(text);
    EXPECT_EQ(tolerance.policy, "allclose");
    EXPECT_DOUBLE_EQ(tolerance.rtol, 1e-5);
    EXPECT_DOUBLE_EQ(tolerance.atol, 1e-5);
  }
}

TEST(TaskTolerance, FiguresMeanAllclose) {
  const Tolerance relative = tolerance_of("{rtol: 1e-3}");
  EXPECT_EQ(relative.policy, "allclose");
  EXPECT_DOUBLE_EQ(relative.rtol, 1e-3);
  EXPECT_DOUBLE_EQ(relative.atol, 0);
  EXPECT_EQ(tolerance_of("{atol: 2}").policy, "allclose");
  const Tolerance both = tolerance_of("{policy: allclose, rtol: 1e-3, atol: 1e-6, allow: [tf32]}");
  EXPECT_DOUBLE_EQ(both.atol, 1e-6);
  EXPECT_EQ(both.allow, std::vector<std::string>{"tf32"});
}

TEST(TaskTolerance, FiguresBesideAnotherPolicyAreRefused) {
  for (const char* policy : {"auto", "exact", "normwise"})
    EXPECT_THAT(
        error_of(with_tolerance(std::string("{policy: ") + policy + ", atol: 1e-3}")),
        AllOf(HasSubstr("task.yaml:12"), HasSubstr("takes no figures"), HasSubstr("policy: allclose")))
        << policy;
}

TEST(TaskTolerance, KernelsHaveNoKeysOfModules) {
  for (const char* key : {"matched: 0.99", "truth: reference", "cap: 2", "either: true"})
    EXPECT_THAT(error_of(with_tolerance(std::string("{rtol: 1e-3, ") + key + "}")),
                AllOf(HasSubstr("task.yaml:12"), HasSubstr("PyTorch modules")))
        << key;
}

TEST(TaskTolerance, AllcloseNeedsAFigure) {
  EXPECT_THAT(error_of(with_tolerance("{policy: allclose}")),
              AllOf(HasSubstr("needs an rtol or an atol"), HasSubstr("rtol: 1e-5")));
  EXPECT_THAT(error_of(with_tolerance("{rtol: 0}")), HasSubstr("needs an rtol or an atol"));
  EXPECT_THAT(error_of(with_tolerance("0")), HasSubstr("policy: exact"));
  EXPECT_THAT(error_of(with_tolerance("{rtol: -1}")), HasSubstr("from 0 to 1"));
  EXPECT_THAT(error_of(with_tolerance("{rtol: 2}")), HasSubstr("from 0 to 1"));
}

TEST(TaskTolerance, KnowsWhatOthersCallFiguresAndPolicies) {
  EXPECT_THAT(error_of(with_tolerance("{relative_tolerance: 1e-3}")),
              AllOf(HasSubstr("task.yaml:12"), HasSubstr("did you mean rtol?")));
  EXPECT_THAT(error_of(with_tolerance("{abs_tol: 1e-3}")), HasSubstr("did you mean atol?"));
  EXPECT_THAT(error_of(with_tolerance("{rtoll: 1e-3}")), HasSubstr("did you mean rtol?"));
  EXPECT_THAT(error_of(with_tolerance("{policy: bitwise}")), HasSubstr("did you mean exact?"));
  EXPECT_THAT(error_of(with_tolerance("exact")), HasSubstr("tolerance: {policy: exact}"));
  EXPECT_THAT(error_of(with_tolerance("allclose")), HasSubstr("policy: allclose, rtol: 1e-5"));
  EXPECT_THAT(error_of(kSoftmax + "rtol: 1e-5\n"),
              AllOf(HasSubstr("task.yaml:16"), HasSubstr("tolerance: {rtol: 1e-5, atol: 1e-8}")));
  EXPECT_THAT(error_of(kSoftmax + "relative_tolerance: 1e-5\n"), HasSubstr("tolerance: {rtol"));
}

}  // namespace
}  // namespace kernelsmith
