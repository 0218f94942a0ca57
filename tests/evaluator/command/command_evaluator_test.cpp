// The command backend on small shell programs, and on the example.
#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/command/command_evaluator.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

#include "verdicts.hpp"

namespace kernelsmith {
namespace {

Task shell_task(const std::string& script) {
  Task task;
  task.name = "shell";
  task.backend = "command";
  task.command = {"sh", "evaluate.sh", "{candidate}", "{answer}"};
  task.files = {{"evaluate.sh", script}};
  task.digest = task_digest(task);
  return task;
}

Source candidate(const std::string& text) { return Source::create({{"candidate.sh", text}}).value(); }

// Evaluates one candidate; an Error fails the test.
Evaluation evaluate(const Task& task, const Source& source, CommandOptions options = {}) {
  const auto evaluator = make_command_evaluator(task, options).value();
  EvaluationJob job;
  job.run = "test";
  job.task = task.digest;
  job.source = source;
  return answer_of<Evaluation>([&](auto done) { evaluator->start(job, {}, std::move(done)); }).get().value();
}

Rejection rejected(const std::string& script, const std::string& source = "exit 0") {
  return rejection_of(evaluate(shell_task(script), candidate(source)));
}

TEST(CommandEvaluator, TheAnswerBecomesFitnessAndFeatures) {
  const Evaluation evaluation = evaluate(
      shell_task("echo \"{\\\"fitness\\\": $(sh $1), \\\"size\\\": 7}\" > $2"), candidate("echo 42"));
  ASSERT_TRUE(evaluation.accepted()) << evaluation.rejection()->diagnostics;
  EXPECT_EQ(evaluation.metrics()->fitness(), Measurement::exact(42));
  EXPECT_EQ(evaluation.metrics()->features().at("size"), 7);
  EXPECT_EQ(evaluation.report().tier, "unverified");
  EXPECT_GT(evaluation.report().spent_ms.at("run"), 0);
}

TEST(CommandEvaluator, APrintedScoreIsNoAnswer) {
  const Rejection rejection = rejected("sh $1", "echo '{\"fitness\": 1000}'");
  EXPECT_EQ(rejection.stage, Stage::run);
  EXPECT_EQ(rejection.code, RejectionCode::bad_metrics);
}

TEST(CommandEvaluator, AnAnswerThatIsNoneIsRejected) {
  EXPECT_EQ(rejected("echo '{\"fitness\": NaN}' > $2").code, RejectionCode::bad_metrics);
  EXPECT_EQ(rejected("echo '{\"size\": 1}' > $2").code, RejectionCode::bad_metrics);
  EXPECT_EQ(rejected("ln -s /etc/passwd $2").code, RejectionCode::bad_metrics);
  EXPECT_EQ(rejected("mkfifo $2").code, RejectionCode::bad_metrics);
}

TEST(CommandEvaluator, AFailureShowsTheEndOfStandardErrorWithoutItsEscapes) {
  const Rejection rejection = rejected("seq 1 100000 >&2; printf 'the \\033[31mreason\\n' >&2; exit 3");
  EXPECT_EQ(rejection.code, RejectionCode::command_failed);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("exit status 3"));
  EXPECT_THAT(rejection.diagnostics, HasSubstr("the \\x1b[31mreason"));
  EXPECT_LT(rejection.diagnostics.size(), 5000U);
}

TEST(CommandEvaluator, ACrashAndATimeLimitAreTold) {
  EXPECT_EQ(rejected("kill -SEGV $$").code, RejectionCode::crashed);
  Task task = shell_task("sleep 100");
  task.timeout_s = 0.2;
  task.digest = task_digest(task);
  EXPECT_EQ(rejection_of(evaluate(task, candidate("exit 0"))).code, RejectionCode::timed_out);
}

TEST(CommandEvaluator, NeitherTheTaskNorTheCandidateCanBeRewritten) {
  const Evaluation evaluation = evaluate(
      shell_task("sh $1; echo '{\"fitness\": 1}' > $2"),
      candidate(
          "echo changed > /task/evaluate.sh; echo changed > $0; cat /task/evaluate.sh $0 | grep -c changed"));
  ASSERT_TRUE(evaluation.accepted());
  const auto& artifacts = evaluation.report().artifacts;
  EXPECT_THAT(artifacts.at(1).text, HasSubstr("Read-only file system"));
}

TEST(CommandEvaluator, SeveralFilesLieBesideEachOther) {
  const Source source =
      Source::create({{"main.sh", "cat $(dirname $0)/part/number"}, {"part/number", "5"}}).value();
  const Evaluation evaluation = evaluate(shell_task("echo \"{\\\"fitness\\\": $(sh $1)}\" > $2"), source);
  EXPECT_EQ(accepted(evaluation).metrics()->fitness().median, 5);
}

TEST(CommandEvaluator, UnsandboxedIsRecorded) {
  const Evaluation evaluation = evaluate(shell_task("echo \"{\\\"fitness\\\": $(sh $1)}\" > $2"),
                                         candidate("echo 2"), {.unsandboxed = true});
  EXPECT_EQ(accepted(evaluation).report().tier, "unsandboxed");
}

TEST(CommandEvaluator, AWrongTaskIsRefused) {
  Task task = shell_task("");
  task.backend = "cpu";
  EXPECT_EQ(make_command_evaluator(task).error().code, ErrorCode::unsupported);
  task = shell_task("");
  task.command = {"no-such-program", "{candidate}", "{answer}"};
  EXPECT_EQ(make_command_evaluator(task).error().code, ErrorCode::tool_missing);
}

TEST(CommandEvaluator, TheExamplesSeedIsAccepted) {
  const auto task = load_task(KERNELSMITH_SOURCE_DIR "/examples/circle_packing").value();
  const Evaluation evaluation = evaluate(task, task.seed);
  ASSERT_TRUE(evaluation.accepted()) << evaluation.rejection()->diagnostics;
  EXPECT_GT(evaluation.metrics()->fitness().median, 2.4);
  EXPECT_LT(evaluation.metrics()->fitness().median, 2.64);
}

TEST(CommandEvaluator, TheExampleRefusesOverlappingCircles) {
  const auto task = load_task(KERNELSMITH_SOURCE_DIR "/examples/circle_packing").value();
  std::string text(task.seed.main_text());
  const std::string honest = "print(json.dumps(pack()))";
  ASSERT_THAT(text, HasSubstr(honest));
  text.replace(text.find(honest), honest.size(), "print(json.dumps([[0.5, 0.5, 0.5]] * 26))");
  Task open = task;  // without the seed, nothing is frozen
  open.seed = {};
  open.digest = task_digest(open);
  const Rejection rejection = rejection_of(evaluate(open, Source::create({{"pack.py", text}}).value()));
  EXPECT_EQ(rejection.code, RejectionCode::command_failed);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("overlap"));
}

}  // namespace
}  // namespace kernelsmith
