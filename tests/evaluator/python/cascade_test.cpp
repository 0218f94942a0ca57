// Stages and thresholds, by the rules of OpenEvolve 0.4.1.
#include "evaluating.hpp"

namespace kernelsmith {
namespace {

/// The program says what its stages return: names["one"], ["two"], ["three"] are called.
const std::string kStages = R"(
def load(path):
    names = {}
    exec(open(path).read(), names)
    return names
def evaluate(path): return {"combined_score": 100, "direct": 1}
def evaluate_stage1(path): return load(path)["one"]()
def evaluate_stage2(path): return load(path)["two"]()
def evaluate_stage3(path): return load(path)["three"]()
)";

const Evaluating& staged() {
  static const Evaluating evaluating(kStages, "timeout_s: 60\ncascade: [0.5, 0.75]\n");
  return evaluating;
}

std::string stages(const std::string& one, const std::string& two = "None",
                   const std::string& three = "None") {
  return "def one(): return " + one + "\ndef two(): return " + two + "\ndef three(): return " + three + "\n";
}

TEST(PythonCascade, AProgramBelowAThresholdKeepsWhatItHas) {
  const Evaluation evaluation = staged().evaluate(stages("{'combined_score': 0.49, 'a': 1, 'error': 2}"));
  ASSERT_TRUE(evaluation.accepted());
  EXPECT_EQ(evaluation.metrics()->fitness().median, 0.49);
  EXPECT_THAT(evaluation.metrics()->features(),
              ElementsAre(Pair("a", 1), Pair("combined_score", 0.49), Pair("error", 2)));
}

TEST(PythonCascade, LaterStagesAreMergedOverEarlierOnes) {
  const Evaluation evaluation = staged().evaluate(stages("{'combined_score': 0.5, 'a': 1, 'text': 'gone'}",
                                                         "{'combined_score': 0.75, 'b': 2, 'error': 9}",
                                                         "{'combined_score': 0.9, 'c': 3}"));
  ASSERT_TRUE(evaluation.accepted());
  EXPECT_EQ(evaluation.metrics()->fitness().median, 0.9);
  EXPECT_THAT(evaluation.metrics()->features(),
              ElementsAre(Pair("a", 1), Pair("b", 2), Pair("c", 3), Pair("combined_score", 0.9)));
  EXPECT_EQ(artifact(evaluation, "text"), "(none)");
}

TEST(PythonCascade, WithoutACombinedScoreTheMeanIsCompared) {
  const Evaluation stops = staged().evaluate(stages("{'a': 0.2, 'error': 9}", "{'b': 1}"));
  EXPECT_EQ(stops.metrics()->features().count("b"), 0U);
  const Evaluation goes_on = staged().evaluate(stages("{'a': 0.2, 'x': 0.9}", "{'b': 0.1}"));
  EXPECT_EQ(goes_on.metrics()->features().count("b"), 1U);
}

TEST(PythonCascade, ALaterStageThatFailsLeavesTheEarlierOnes) {
  for (const char* const two : {"1 / 0", "__import__('os')._exit(3)"}) {
    const Evaluation evaluation = staged().evaluate(stages("{'combined_score': 0.6}", two));
    ASSERT_TRUE(evaluation.accepted()) << two;
    EXPECT_EQ(evaluation.metrics()->fitness().median, 0.6);
    EXPECT_EQ(evaluation.metrics()->features().at("stage2_passed"), 0);
    EXPECT_EQ(artifact(evaluation, "failure_stage"), "stage2");
  }
}

TEST(PythonCascade, ALaterStageThatHangsLeavesTheEarlierOnes) {
  const Evaluating evaluating(kStages, "timeout_s: 0.5\ncascade: [0.5]\n");
  const Evaluation evaluation =
      evaluating.evaluate(stages("{'combined_score': 0.6}", "__import__('time').sleep(1000)"));
  ASSERT_TRUE(evaluation.accepted());
  EXPECT_EQ(artifact(evaluation, "stage2_timeout"), "True");
}

TEST(PythonCascade, AFirstStageThatRaisesIsRejected) {
  const Rejection rejection = rejection_of(staged().evaluate(stages("1 / 0")));
  EXPECT_EQ(rejection.code, RejectionCode::raised);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("ZeroDivisionError"));
}

TEST(PythonCascade, WithoutThresholdsOrStagesEvaluateIsCalled) {
  EXPECT_EQ(Evaluating(kStages).evaluate("").metrics()->fitness().median, 100);
  const Evaluating no_stages("def evaluate(path): return 7\n", "cascade: [0.5]\n");
  EXPECT_EQ(no_stages.evaluate("").metrics()->fitness().median, 7);
}

}  // namespace
}  // namespace kernelsmith
