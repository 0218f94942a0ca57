// What evaluators may return, and the fitness that follows.
#include "evaluating.hpp"

namespace kernelsmith {
namespace {

/// One for all tests here: they differ in what run() returns.
const Evaluating& runs_it() {
  static const Evaluating evaluating(kRunsIt);
  return evaluating;
}

Metrics metrics_of(const Evaluation& evaluation) { return *accepted(evaluation).metrics(); }

double fitness(const std::string& body) { return metrics_of(runs_it().run(body)).fitness().median; }

TEST(PythonMetrics, ANumberIsTheFitness) {
  EXPECT_EQ(fitness("return 3"), 3);
  EXPECT_EQ(fitness("return 0.1 + 0.2"), 0.1 + 0.2);
}

TEST(PythonMetrics, FitnessComesFirstThenCombinedScoreThenTheMean) {
  EXPECT_EQ(fitness("return {'fitness': 1, 'combined_score': 2, 'x': 9}"), 1);
  EXPECT_EQ(fitness("return {'combined_score': 2, 'x': 9}"), 2);
  EXPECT_EQ(fitness("return {'x': 1, 'y': 2, 'flag': True, 'text': 'z', 'none': float('nan')}"), 1.5);
}

TEST(PythonMetrics, OtherNumbersAreFeaturesAndOtherValuesArtifacts) {
  const Evaluation evaluation =
      runs_it().run("return {'fitness': 1, 'size': 7, 'ok': True, 'why': 'so', 'bad': float('inf')}");
  EXPECT_THAT(metrics_of(evaluation).features(), ElementsAre(Pair("size", 7)));
  EXPECT_EQ(artifact(evaluation, "ok"), "True");
  EXPECT_EQ(artifact(evaluation, "why"), "so");
  EXPECT_EQ(artifact(evaluation, "bad"), "inf");
  EXPECT_EQ(evaluation.report().tier, "unverified");
  EXPECT_THAT(evaluation.report().toolchain, HasSubstr("Python 3"));
  EXPECT_GT(evaluation.report().spent_ms.at("run"), 0);
}

TEST(PythonMetrics, AnObjectWithMetricsAndArtifactsIsTaken) {
  const Evaluation evaluation = runs_it().run(
      "class Result: metrics = {'combined_score': 2.5}; artifacts = {'log': 'text', 'raw': b'\\x01\\xff'}\n"
      "return Result()");
  EXPECT_EQ(metrics_of(evaluation).fitness().median, 2.5);
  EXPECT_EQ(artifact(evaluation, "log"), "text");
  EXPECT_EQ(artifact(evaluation, "raw"), "\\x01\\xff");
}

TEST(PythonMetrics, OpenEvolvesResultNeedsNoOpenEvolve) {
  const Evaluation evaluation = runs_it().run(
      "from openevolve.evaluation_result import EvaluationResult\n"
      "return EvaluationResult(metrics={'a': 1, 'b': 2}, artifacts={'stderr': 'words'})");
  EXPECT_EQ(metrics_of(evaluation).fitness().median, 1.5);
  EXPECT_EQ(artifact(evaluation, "stderr"), "words");
}

TEST(PythonMetrics, ACoroutineIsAwaited) {
  const Evaluating evaluating(
      "import asyncio\nasync def evaluate(program_path):\n    await asyncio.sleep(0)\n    return 4\n");
  EXPECT_EQ(metrics_of(evaluating.evaluate("")).fitness().median, 4);
}

TEST(PythonMetrics, TheEndOfALongArtifactIsKept) {
  const Evaluation evaluation = runs_it().run(
      "class Result: metrics = {'a': 1}; artifacts = {'log': 'x' * (3 << 20) + 'the end'}\nreturn Result()");
  const std::string log = artifact(evaluation, "log");
  EXPECT_EQ(log.size(), std::size_t{1} << 20);
  EXPECT_TRUE(log.ends_with("the end"));
}

TEST(PythonMetrics, TheNextPromptIsToldTheEndsOfArtifacts) {
  const Evaluation evaluation = runs_it().run(
      "print('not this')\n"
      "class Result: metrics = {'a': 1}; artifacts = {'log': 'x' * 5000 + 'the end', 'why': 'so'}\nreturn "
      "Result()");
  EXPECT_THAT(evaluation.report().advice, HasSubstr("the end\nwhy:\nso\n"));
  EXPECT_THAT(evaluation.report().advice, Not(HasSubstr("not this")));
  EXPECT_LT(evaluation.report().advice.size(), 1100U);
}

TEST(PythonMetrics, WhatIsPrintedIsKept) {
  const Evaluation evaluation =
      runs_it().run("import sys\nprint('to out')\nprint('to err', file=sys.stderr)\nreturn 1");
  EXPECT_EQ(artifact(evaluation, "python.out"), "to out\n");
  EXPECT_EQ(artifact(evaluation, "python.err"), "to err\n");
}

TEST(PythonMetrics, TheEvaluatorsOwnFolderComesFirstOnThePath) {
  TemporaryFolder unused;
  Evaluating evaluating(
      "import os, sys\nassert sys.path[0] == os.path.dirname(os.path.abspath(__file__))\n"
      "assert 'kernelsmith_worker' not in ' '.join(sys.path)\n"
      "def evaluate(path): return {'seen': open(path).read() == 'text'} and len(path)\n");
  EXPECT_GT(metrics_of(evaluating.evaluate("text")).fitness().median, 0);
}

}  // namespace
}  // namespace kernelsmith
