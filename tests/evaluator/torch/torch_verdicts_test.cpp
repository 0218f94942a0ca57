// The whole backend with programs that need no PyTorch and no GPU: every way that an evaluation can end. A
// reference and a candidate are JSON, read by fake/kernelsmith_torch.
#include <future>
#include <memory>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/evaluator/call_limit.hpp>
#include <kernelsmith/evaluator/device_lease.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

#include "temporary_folder.hpp"
#include "torch_bench.hpp"

namespace kernelsmith::torch {
namespace {

TEST(TorchVerdicts, AFasterModuleIsAccepted) {
  Bench bench;
  const Evaluation evaluation = accepted(bench.evaluate(R"({"us": 250})"));
  const Report& report = evaluation.report();
  EXPECT_DOUBLE_EQ(report.speedup->median, 4);
  EXPECT_DOUBLE_EQ(report.runtime_us->median, 250);
  ASSERT_THAT(report.shapes, SizeIs(2));
  EXPECT_EQ(report.shapes[0].shape, "given");
  EXPECT_DOUBLE_EQ(report.shapes[0].error, 0.25);
  EXPECT_FALSE(report.shapes[1].timed);
  EXPECT_EQ(report.hardware, "NVIDIA Fake 80GB");
  EXPECT_EQ(report.toolchain, "PyTorch 2.11.0, Triton 3.6.0, Python 3.11");
  EXPECT_EQ(report.tier, "unsandboxed");
  ASSERT_THAT(report.artifacts, SizeIs(3));
  EXPECT_EQ(report.artifacts[2].name, "roofline.txt");
  EXPECT_EQ(report.artifacts[0].name, "plan.txt");
  EXPECT_EQ(report.artifacts[1].text, "      3.00 us  k  (own)\n      1.00 us  addmm\n");
  EXPECT_THAT(report.advice,
              AllOf(StartsWith(report.artifacts[0].text),
                    HasSubstr("take most of its time, by themselves:\n      3.00 us  k  (own)\n")));
  const auto& features = evaluation.metrics()->features();
  EXPECT_EQ(features.at("own_kernels"), 1);
  EXPECT_EQ(features.at("aten_ops"), 2);
  EXPECT_EQ(features.at("shared_bytes"), 1024);
  EXPECT_EQ(features.at("own_share"), 0.75);
  EXPECT_EQ(features.at("peak_memory"), 4096);
  EXPECT_GT(features.at("compile_ms"), 0) << "planning is what makes a module ready to run";
  EXPECT_FALSE(features.contains("degenerate"));
}

/// The sum of the steps in milliseconds: of those that are no parts, or of the parts of `of`.
double sum_of_steps(const Report& report, const std::string& of = {}) {
  double sum_ms = 0;
  for (const auto& [step, ms] : report.spent_ms)
    if (of.empty() ? !is_part(step) : step.starts_with(of + ": ")) sum_ms += ms;
  return sum_ms;
}

TEST(TorchVerdicts, TheStepsOfAnEvaluationAddUpToItsTime) {
  Bench bench(R"({"spent_s": {"load": 1e-6, "truth": 2e-6}, "truth_s": 1e-6})");
  const Stopwatch watch;
  bench.create().value();
  const auto evaluator = make_staged_evaluator(std::make_shared<const Task>(bench.task), bench.backend, {});
  const auto report_of = [&](const std::string& candidate) {
    EvaluationJob job;
    job.source = source(candidate);
    job.may_edit_frozen = true;
    return accepted(answer_of<Evaluation>([&](auto done) { evaluator->start(job, {}, done); }).get())
        .report();
  };
  const Report report = report_of("{}");
  const double outside_ms = watch.ms();
  for (const char* step : {"prepare: start", "prepare: plan", "prepare: wait", "prepare: truth", "wait",
                           "start", "plan", "candidate: load", "candidate: calls", "candidate: publish",
                           "candidate: truth", "candidate: compare", "yardstick: calls", "profile"})
    EXPECT_TRUE(report.spent_ms.contains(step)) << step;
  EXPECT_DOUBLE_EQ(report.spent_ms.at("prepare: load"), 1e-3) << "as its process told";
  EXPECT_GT(report.spent_ms.at("prepare: truth"), 2e-3) << "that of the reference's check, too";
  EXPECT_NEAR(sum_of_steps(report, "prepare"), report.spent_ms.at("prepare"), 1e-6);
  EXPECT_LE(sum_of_steps(report), outside_ms);
  EXPECT_LE(sum_of_steps(report, "candidate") + sum_of_steps(report, "yardstick"),
            report.spent_ms.at("check") + report.spent_ms.at("timing"));

  const Report second = report_of(R"({"us": 250})");
  EXPECT_FALSE(second.spent_ms.contains("prepare")) << "that was before the first one";
  EXPECT_LE(sum_of_steps(report) + sum_of_steps(second), watch.ms());
}

TEST(TorchVerdicts, ATaskWhoseOutputNoInputMovesIsNamed) {
  Bench bench(R"({"degenerate": [0]})");
  const auto evaluation = bench.evaluate(R"({"us": 250})").value();
  EXPECT_EQ(evaluation.metrics()->features().at("degenerate"), 1);
  EXPECT_THAT(bench.backend->degenerate(), ElementsAre("output 0"));
}

TEST(TorchVerdicts, WhatLeavesOutTheReferencesProductsIsNamed) {
  const auto is_algebraic = [](const std::string& candidate, const std::string& precision = "fp32") {
    Bench bench(R"({"flops": 2e11})");  // an H100's tensor cores do half of it in 101 us in 16 bits
    bench.task.settings = settings_text(TorchSettings{.precision = precision});
    return accepted(bench.evaluate(candidate)).metrics()->features().contains("algebraic");
  };
  EXPECT_TRUE(is_algebraic(R"({"us": 250})"));
  EXPECT_FALSE(is_algebraic(R"({"us": 350})"));
  EXPECT_FALSE(is_algebraic(R"({"us": 110})", "bf16"));
  EXPECT_TRUE(is_algebraic(R"({"us": 90})", "bf16"));
}

TEST(TorchVerdicts, TheSandboxIsAFullTier) {
  Bench bench;
  bench.options.unsandboxed = false;
  EXPECT_EQ(bench.report().tier, "full");
}

TEST(TorchVerdicts, AWrongOutputIsToldByItsElement) {
  Bench bench;
  const Rejection told = bench.rejection(
      R"({"wrong": {"variant": 1, "call": 0, "tensor": 0, "index": [1, 2], "count": 3, "kind": "wrong", "actual": 7.5,
          "expected": {"float": "inf"}, "allowed": 0.5, "worst": 12}})");
  EXPECT_EQ(told.stage, Stage::correctness);
  EXPECT_EQ(told.code, RejectionCode::wrong_output);
  EXPECT_THAT(told.diagnostics, AllOf(HasSubstr("output 'output 0' at scaled"), HasSubstr("3 of 6 elements"),
                                      HasSubstr("element [1, 2]: expected inf, got 7.5, allowed error 0.5")));
  EXPECT_EQ(told.report.shapes[1].correct, false);
}

TEST(TorchVerdicts, OtherFaultsOfOutputsHaveCodesOfTheirOwn) {
  Bench bench;
  const auto code = [&](const std::string& kind) {
    return bench
        .rejection(R"({"wrong": {"call": 0, "tensor": 0, "index": [0, 1], "count": 1, "kind": ")" + kind +
                   R"("}})")
        .code;
  };
  EXPECT_EQ(code("not_finite"), RejectionCode::not_finite);
  EXPECT_EQ(code("not_written"), RejectionCode::output_not_written);
  const Rejection shape = bench.rejection(
      R"({"wrong": {"call": 0, "tensor": 0, "kind": "shape", "actual": ["float32", [6]], "expected": ["float32", [2, 3]]}})");
  EXPECT_EQ(shape.code, RejectionCode::wrong_output);
  EXPECT_THAT(shape.diagnostics,
              HasSubstr(R"('output 0' is ["float32",[6]], and the reference's is ["float32",[2,3]])"));
}

/// Gives the task a baseline of its own, as JSON.
void set_baseline(Bench& bench, const std::string& module) {
  bench.task.files = {{"expert.py", module}};
  TorchSettings torch;
  torch.module = "expert.py";
  bench.task.settings = settings_text(torch);
}

Error refusal_of_baseline(const std::string& module) {
  Bench bench;
  set_baseline(bench, module);
  return bench.refusal();
}

TEST(TorchVerdicts, AModuleOfTheTaskCanBeTheBaseline) {
  Bench bench;
  set_baseline(bench, R"({"us": 500, "launches": 0})");
  const Report report = bench.report(R"({"us": 250})");
  EXPECT_DOUBLE_EQ(report.speedup->median, 2);
  EXPECT_DOUBLE_EQ(report.over_yardstick->median, 4) << "the reference is timed beside it";
  EXPECT_LT(report.speedup->low, 2) << "the baseline is known within bounds";
  EXPECT_EQ(bench.rejection(R"({"launches": 0})").code, RejectionCode::forbidden_construct);
}

TEST(TorchVerdicts, ABaselineThatIsWrongOrCannotBePlannedIsTheTasksFault) {
  const Error wrong = refusal_of_baseline(
      R"({"wrong": {"call": 0, "tensor": 0, "index": [0, 1], "count": 1, "kind": "not_written"}})");
  EXPECT_EQ(wrong.code, ErrorCode::refused);
  EXPECT_THAT(describe(wrong), HasSubstr("baseline"));
  const Error unplanned =
      refusal_of_baseline(R"({"plan": )" + told("candidate", "plan", "plan_failed") + "}");
  EXPECT_EQ(unplanned.code, ErrorCode::refused);
  EXPECT_THAT(unplanned.message, HasSubstr("the task's baseline cannot be planned"));
}

/// Each has the stage and code of whoever saw it: planner, runner or judge. The next candidate is not the
/// worse for it.
TEST(TorchVerdicts, WhatACandidateDoesIsRejectedInTheWordsOfWhoSawIt) {
  struct Seen {
    std::string candidate;
    Stage stage;
    RejectionCode code;
  };
  Bench bench;
  for (const auto& [candidate, stage, code] :
       {Seen{R"({"plan": )" + told("candidate", "compile", "syntax_error") + "}", Stage::compile,
             RejectionCode::compile_failed},
        Seen{on("run", told("candidate", "run", "crashed")), Stage::run, RejectionCode::crashed},
        Seen{on("publish", told("candidate", "integrity", "input_modified")), Stage::integrity,
             RejectionCode::input_modified},
        Seen{R"({"compare": )" + told("candidate", "integrity", "out_of_bounds") + "}", Stage::integrity,
             RejectionCode::out_of_bounds}}) {
    const Rejection rejection = bench.rejection(candidate);
    EXPECT_EQ(rejection.stage, stage) << candidate;
    EXPECT_EQ(rejection.code, code) << candidate;
    EXPECT_THAT(rejection.diagnostics, HasSubstr("it did. do not")) << candidate;
    bench.report();
  }
  const Error machines = bench.error(on("run", told("machine", "run", "no such code")));
  EXPECT_EQ(machines.code, ErrorCode::tool_failed);
  EXPECT_EQ(machines.message, "it did");
}

TEST(TorchVerdicts, ARunnerThatDiesIsACrash) {
  Bench bench;
  for (const std::string request : {"load", "run", "publish"}) {
    const Rejection rejection = bench.rejection(on(request, R"("die")"));
    EXPECT_EQ(rejection.stage, Stage::run);
    EXPECT_EQ(rejection.code, RejectionCode::crashed) << request;
    EXPECT_THAT(rejection.diagnostics, AllOf(HasSubstr("asked to " + request), HasSubstr("a last word")));
  }
  EXPECT_TRUE(bench.evaluate("{}")->accepted());
}

TEST(TorchVerdicts, ARunnerThatHangsIsTimedOut) {
  Bench bench;
  bench.task.timeout_s = 0.1;
  bench.limits.worker.grace_s = 0.1;
  const Rejection rejection = bench.rejection(on("run", R"("hang")"));
  EXPECT_EQ(rejection.stage, Stage::run);
  EXPECT_EQ(rejection.code, RejectionCode::timed_out);
}

/// The runner itself notices that a call does not end; its reason names what it waits for.
TEST(TorchVerdicts, ACallThatTakesTooLongCostsTheRunnerAndNotTheNext) {
  Bench bench;
  bench.task.timeout_s = kGpuTimeoutS;
  for (const std::string request : {"load", "run"}) {
    const Rejection rejection = bench.rejection(on(request, R"("too long")"));
    EXPECT_EQ(rejection.stage, Stage::run);
    EXPECT_EQ(rejection.code, RejectionCode::timed_out) << request;
    EXPECT_THAT(rejection.diagnostics,
                AllOf(HasSubstr("did not end within 2 s"), HasSubstr("takes 1000 us")));
    EXPECT_TRUE(bench.evaluate("{}")->accepted());
  }
}

TEST(TorchVerdicts, ARunnerThatWritesGarbageIsOurOwnMistake) {
  Bench bench;
  EXPECT_EQ(bench.error(on("run", R"("garbage")")).code, ErrorCode::tool_failed);
  EXPECT_EQ(bench.error(on("run", R"("no_json")")).code, ErrorCode::bad_reply);
  EXPECT_TRUE(bench.evaluate("{}")->accepted()) << "what it left in its channel is nobody else's answer";
}

TEST(TorchVerdicts, NobodyIsBlamedForAMachineThatFails) {
  const TemporaryFolder folder;
  const Variable broken("FAKE_BROKEN_GPU", (folder / "broken").string());
  Bench bench;
  ASSERT_TRUE(bench.create());
  std::ofstream(folder / "broken") << "yes";
  const Error error = bench.error(on("run", R"("die")"));
  EXPECT_EQ(error.code, ErrorCode::internal);
  EXPECT_THAT(error.message, AllOf(StartsWith("the GPU failed"), HasSubstr("the device is gone")));
}

TEST(TorchVerdicts, ACandidateThatNeedsMoreThanItsShareIsTriedAlone) {
  const OwnGpu gpu;
  Bench bench(R"({"need": 1000})");
  bench.report(R"({"needs_all": true})");
  bench.report();  // its share is the usual one again
}

TEST(TorchVerdicts, ANeighboursMemoryIsNeverTheCandidates) {
  const OwnGpu gpu;
  Bench bench;
  const Error error = bench.error(on("load", told("machine", "run", "busy")));
  EXPECT_EQ(error.code, ErrorCode::busy);
  EXPECT_EQ(error.message, "it did");
  const Rejection rejection = bench.rejection(on("load", told("candidate", "run", "out_of_memory")));
  EXPECT_EQ(rejection.code, RejectionCode::out_of_memory);
}

TEST(TorchVerdicts, AReferenceThatNeedsMoreThanWasGuessedIsTriedAlone) {
  const OwnGpu gpu;
  Bench bench(R"({"needs_all": true})");
  EXPECT_TRUE(bench.evaluate("{}")->accepted());
}

TEST(TorchVerdicts, AReferenceIsTimedOnceNeighboursHaveTriedTheirs) {
  const OwnGpu gpu;
  auto neighbour =
      std::make_unique<Result<DeviceLease::Held>>(DeviceLease(gpu.name).take({}, DeviceLease::Use::untimed));
  ASSERT_TRUE(*neighbour);
  Bench bench;
  auto created = std::async(std::launch::async, [&] { return bench.create(); });
  EXPECT_EQ(created.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  neighbour.reset();
  EXPECT_TRUE(created.get());
}

TEST(TorchVerdicts, AFullGpuIsNoMissingOne) {
  const OwnGpu gpu;
  const std::string full = (gpu.folder / "full").string();
  const Variable where("FAKE_FULL_GPU", full);
  std::ofstream(full) << "yes";
  Bench bench;
  EXPECT_TRUE(bench.evaluate("{}")->accepted()) << "it is asked again";
}

TEST(TorchVerdicts, TwoTasksOfOneProcessTakeTurns) {
  const OwnGpu gpu;
  Bench first(R"({"need": 60000000000})"), second(R"({"need": 50000000000})");
  first.limits.memory_turn_s = second.limits.memory_turn_s = 0;
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_TRUE(first.evaluate("{}")->accepted());
    EXPECT_TRUE(second.evaluate("{}")->accepted());
  }
}

TEST(TorchVerdicts, TheJudgeIsStartedAgainWhereItDied) {
  Bench bench;
  const Error error = bench.error(R"({"compare": "die"})");
  EXPECT_EQ(error.code, ErrorCode::tool_failed);
  EXPECT_THAT(error.message, HasSubstr("the judge of the torch backend ended when asked to compare"));
  EXPECT_TRUE(bench.evaluate("{}")->accepted());
}

TEST(TorchVerdicts, AJudgeThatReplacesAnotherHasItsBatches) {
  Bench bench(on("prepare like before", told("machine", "run", "no such code")));
  EXPECT_TRUE(bench.evaluate("{}")->accepted());
  bench.error(R"({"compare": "die"})");
  EXPECT_EQ(bench.error("{}").message, "it did") << "it learns how many calls a batch has";
}

TEST(TorchVerdicts, ACheckThatFailsIsTheCandidatesFaultOnlyIfItTakesTheReferencesOutputs) {
  Bench bench;
  for (const char* const code : {"wrong_output", "crashed"}) {  // by a crash the judge's process is lost
    const std::string fails = R"({"compare": )" + told("candidate", "correctness", code) + "}";
    const Rejection rejection = bench.rejection(fails);
    EXPECT_EQ(rejection.code, RejectionCode::wrong_output);
    EXPECT_THAT(rejection.diagnostics, HasSubstr("it did"));
    EXPECT_TRUE(bench.evaluate("{}")->accepted());
  }
  const std::string fails = R"({"compare": )" + told("candidate", "correctness", "wrong_output") + "}";
  Bench broken(R"({"own_after_it": )" + told("candidate", "correctness", "wrong_output") + "}");
  EXPECT_EQ(broken.error(fails).code, ErrorCode::tool_failed);
}

TEST(TorchVerdicts, AModuleWithoutAKernelOfItsOwnIsRefusedByThePolicy) {
  Bench bench;
  const Rejection rejection = bench.rejection(R"({"launches": 0})");
  EXPECT_EQ(rejection.stage, Stage::plan);
  EXPECT_EQ(rejection.code, RejectionCode::forbidden_construct);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("policy: any"));
  EXPECT_EQ(rejection.report.toolchain, "PyTorch 2.11.0, Triton 3.6.0, Python 3.11");
  Bench any;
  any.task.settings = settings_text(TorchSettings{.policy = "any"});
  EXPECT_TRUE(any.evaluate(R"({"launches": 0})")->accepted());
}

TEST(TorchVerdicts, ACandidateIsOneFileOfUtf8) {
  Bench bench;
  ASSERT_TRUE(bench.create());
  const auto two =
      bench.backend->compile(Source::create({{"a.py", "{}"}, {"b.py", "{}"}}).value(), {}).value();
  ASSERT_TRUE(two.rejection());
  EXPECT_EQ(two.rejection()->code, RejectionCode::unreadable);
  EXPECT_EQ(bench.rejection("\xff").code, RejectionCode::unreadable);
}

TEST(TorchVerdicts, ASeedIsPlannedAndChecked) {
  Bench bench;
  bench.task.seed = source(R"({"us": 800})");
  EXPECT_TRUE(bench.create());
  bench.task.seed = source(R"({"plan": )" + told("candidate", "plan", "not_allowed") + "}");
  const Error planning = bench.refusal();
  EXPECT_EQ(planning.code, ErrorCode::refused);
  EXPECT_EQ(planning.where, "files: seed");
  bench.task.seed = source(on("run", R"("die")"));
  const Error running = bench.refusal();
  EXPECT_EQ(running.code, ErrorCode::refused);
  EXPECT_THAT(running.message, HasSubstr("the task's seed fails its own check (crashed)"));
}

TEST(TorchVerdicts, AReferenceThatCannotBeUsedIsRefused) {
  Bench bench(on("prepare", told("task", "run", "not_finite")));
  const Error error = bench.refusal();
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(error.message, HasSubstr("the task's reference cannot be used: it did"));
  EXPECT_EQ(error.hint, "do not");
}

TEST(TorchVerdicts, ARivalIsTimedBeside) {
  Bench bench;
  const Compilation candidate = bench.compile(R"({"us": 250})"), rival = bench.compile(R"({"us": 500})");
  RunRequest request;
  request.candidate = *candidate.binary();
  request.rival = *rival.binary();
  request.remeasurement = Remeasurement::duel;
  const auto evaluation = bench.backend->run(std::move(request), {}).value();
  ASSERT_TRUE(evaluation.report().duel);
  EXPECT_DOUBLE_EQ(evaluation.report().duel->median, 2);
}

TEST(TorchVerdicts, FasterThanMemoryIsImplausible) {
  Bench bench(R"({"bytes": 800000})");  // 1 MB/ms: 600 us with the margin
  const Rejection rejection = bench.rejection(R"({"us": 500})");
  EXPECT_EQ(rejection.code, RejectionCode::implausible_speed);
  EXPECT_TRUE(bench.evaluate(R"({"us": 700})")->accepted());
}

TEST(TorchVerdicts, WithoutAGpuCandidatesArePlanned) {
  const Variable none("FAKE_NO_GPU", "1");
  Bench bench;
  const Error error = bench.error("{}");
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("the candidate was planned, but there is no GPU"), HasSubstr("no driver")));
  EXPECT_EQ(bench.rejection(R"({"launches": 0})").code, RejectionCode::forbidden_construct);
  EXPECT_EQ(Bench(R"({"plan": )" + told("task", "plan", "no_model") + "}").refusal().code, ErrorCode::refused)
      << "the reference is planned, too";
}

TEST(TorchVerdicts, AnotherMakersGpuIsPlannedForAndNotRun) {
  Bench bench;  // whose machine has a GPU
  bench.options.arch = "gfx942";
  const Error error = bench.error("{}");
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(error.message, AllOf(HasSubstr("the candidate was planned"), HasSubstr("not on gfx942")));
  EXPECT_THAT(error.hint, HasSubstr("evaluator.arch"));
  EXPECT_EQ(bench.rejection(R"({"launches": 0})").code, RejectionCode::forbidden_construct);
  const auto text = describe_torch_plan(bench.task, source("{}"), bench.options).value();
  EXPECT_THAT(text, HasSubstr("gfx942"));
}

TEST(TorchVerdicts, AStopRequestEndsAnEvaluation) {
  Bench bench;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(bench.error("{}", stop.get_token()).code, ErrorCode::cancelled);
  EXPECT_TRUE(bench.evaluate("{}")->accepted());
}

TEST(TorchVerdicts, TasksOfOtherBackendsAreNotTaken) {
  Bench bench;
  bench.task.backend = "cuda";
  EXPECT_EQ(bench.refusal().code, ErrorCode::unsupported);
}

TEST(TorchPlanText, IsThePlanners) {
  Bench bench;
  const auto text = describe_torch_plan(bench.task, source("{}"), bench.options).value();
  EXPECT_THAT(text, AllOf(StartsWith("candidate.py for sm_90: 1 launches"), HasSubstr("memory: inputs")));
  const auto refused = describe_torch_plan(bench.task, source(R"({"launches": 0})"), bench.options);
  EXPECT_EQ(refused.error().code, ErrorCode::refused);
  EXPECT_THAT(refused.error().message, StartsWith("forbidden_construct: "));
}

TEST(TorchDescription, ExaminesWhatThereIs) {
  const BackendDescription description = describe_torch_backend();
  EXPECT_EQ(description.form, TaskForm::module);
  EXPECT_EQ(description.suffix, ".py");
  for (const MachineCheck& check : description.examine_machine(true)) {
    EXPECT_FALSE(check.required) << check.name;
    EXPECT_EQ(check.remedy.empty(), check.status == CheckStatus::ok) << check.name;
  }
  EXPECT_FALSE(description.hardware().empty());
}

}  // namespace
}  // namespace kernelsmith::torch
