// The stages as queues: limits, order, cancellation, the cache and the one answer a job. The backend is a
// fake whose stages wait at gates that the test opens.
#include <atomic>
#include <future>
#include <thread>

#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>

#include "fake_backend.hpp"

namespace kernelsmith {
namespace {

class StagedEvaluator : public ::testing::Test {
 protected:
  StagedEvaluator() {
    auto task = std::make_shared<Task>();
    task->name = "fake";
    task->digest = digest_of("fake");
    task_ = std::move(task);
  }

  std::shared_ptr<Evaluator> make(EvaluatorOptions options = {}) {
    return make_staged_evaluator(task_, backend_, options);
  }

  EvaluationJob job(const std::string& text) const {
    EvaluationJob job;
    job.task = task_->digest;
    job.source = *Source::create({{"k.cpp", text}});
    return job;
  }

  std::shared_ptr<const Task> task_;
  std::shared_ptr<FakeBackend> backend_ = std::make_shared<FakeBackend>();
};

TEST_F(StagedEvaluator, AnswersEveryJobOnceFromManyThreads) {
  constexpr int kThreads = 4, kJobs = 50;
  std::atomic<int> answers{0};
  {
    const auto evaluator = make({.compile_slots = 3, .run_slots = 1, .compile_while_running = true});
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < kJobs; ++i)
          evaluator->start(job(std::to_string(t) + "-" + std::to_string(i)), {}, [&](auto) { ++answers; });
      });
  }
  EXPECT_EQ(answers, kThreads * kJobs);
  EXPECT_LE(backend_->most_compiling, 3);
  EXPECT_EQ(backend_->most_running, 1);
}

TEST_F(StagedEvaluator, CompilesNothingWhileSomethingIsTimed) {
  std::vector<std::future<Result<Evaluation>>> answers;
  const auto evaluator = make({.compile_slots = 2, .run_slots = 1, .compile_while_running = false});
  for (int i = 0; i < 60; ++i) answers.push_back(start(*evaluator, job(std::to_string(i))));
  for (auto& answer : answers) EXPECT_TRUE(answer.get());
  EXPECT_FALSE(backend_->overlapped);
}

TEST_F(StagedEvaluator, CompilesWhileTimingWhereThereAreCoresForIt) {
  Gate run_gate;
  backend_->run_gate = &run_gate;
  const auto evaluator = make({.compile_slots = 1, .run_slots = 1, .compile_while_running = true});
  auto first = start(*evaluator, job("first"));
  run_gate.await(1);
  auto rejected = start(*evaluator, job("bad"));
  EXPECT_FALSE(rejected.get()->accepted()) << "answered while the first is being timed";
  run_gate.open();
  EXPECT_TRUE(first.get()->accepted());
}

/// What limits the time of the work must not count the other candidate's.
TEST_F(StagedEvaluator, RunsAtATimeHaveDevicesOfTheirOwn) {
  Gate gate;
  backend_->run_gate = &gate;
  const auto evaluator = make({.compile_slots = 1, .run_slots = 3, .compile_while_running = true});
  std::vector<std::future<Result<Evaluation>>> answers;
  for (int i = 0; i < 6; ++i) answers.push_back(start(*evaluator, job(std::to_string(i))));
  gate.await(3);
  gate.open();
  for (auto& answer : answers) EXPECT_TRUE(answer.get()->accepted());
  EXPECT_FALSE(backend_->shared_a_device);
  EXPECT_EQ(backend_->devices_seen, (std::set<std::size_t>{0, 1, 2}));
}

TEST_F(StagedEvaluator, TellsWhenAJobWaitsForItsTurn) {
  Gate run_gate;
  backend_->run_gate = &run_gate;
  const auto evaluator = make({.compile_slots = 1, .run_slots = 1, .compile_while_running = true});
  auto first = start(*evaluator, job("first"));
  run_gate.await(1);
  const auto waits = std::make_shared<std::promise<void>>();
  const auto told = std::make_shared<std::promise<std::vector<bool>>>();
  auto turns = std::make_shared<std::vector<bool>>();
  evaluator->start_watched(
      job("second"), {}, [told, turns](auto) { told->set_value(*turns); },
      [waits, turns](bool works) {
        turns->push_back(works);
        if (!works) waits->set_value();
      });
  waits->get_future().wait();
  run_gate.open();
  EXPECT_THAT(told->get_future().get(), ElementsAre(true, false, true));
  EXPECT_TRUE(first.get()->accepted());
}

TEST_F(StagedEvaluator, AnswersAWaitingJobSoonAfterItsStop) {
  Gate run_gate;
  backend_->run_gate = &run_gate;
  const auto evaluator = make();
  auto running = start(*evaluator, job("running"));
  run_gate.await(1);
  std::stop_source stop;
  auto waiting = start(*evaluator, job("waiting"), stop.get_token());
  stop.request_stop();
  EXPECT_EQ(waiting.get().error().code, ErrorCode::cancelled);
  run_gate.open();
  EXPECT_TRUE(running.get());
}

TEST_F(StagedEvaluator, AnswersAJobWhoseStopCameFirst) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(start(*make(), job("late"), stop.get_token()).get().error().code, ErrorCode::cancelled);
  EXPECT_EQ(backend_->compilations, 0);
}

TEST_F(StagedEvaluator, CompilesTheSameBytesOnce) {
  const auto evaluator = make();
  EXPECT_TRUE(start(*evaluator, job("same")).get());
  const auto again = start(*evaluator, job("same")).get();
  EXPECT_EQ(backend_->compilations, 1);
  EXPECT_DOUBLE_EQ(again->report().spent_ms.at("compile"), 0);
}

TEST_F(StagedEvaluator, TellsWhatItsStepsDoNotExplain) {
  std::map<std::string, double> spent_ms{{"prepare", 100},   {"prepare: load", 90}, {"plan", 10},
                                         {"plan: build", 5}, {"check", 20},         {"candidate: calls", 15}};
  explain_rest(spent_ms, 50);
  EXPECT_DOUBLE_EQ(spent_ms.at("other"), 20);
  const Report report = start(*make(), job("any")).get()->report();
  EXPECT_THAT(report.spent_ms, ::testing::IsSupersetOf({::testing::Key("wait"), ::testing::Key("other")}));
}

TEST_F(StagedEvaluator, RunsOneBinaryOfARunOnce) {
  const auto evaluator = make();
  const auto first = start(*evaluator, job("k#1")).get();
  EXPECT_EQ(first->report().binary, digest_of("k"));
  const auto second = start(*evaluator, job("k#2")).get();
  EXPECT_EQ(backend_->compilations, 2);
  EXPECT_EQ(backend_->runs, 1);
  EXPECT_EQ(second->report().hardware, "k#1") << "the first one's verdict";
  EXPECT_EQ(second->report().binary, digest_of("k"));

  EvaluationJob of_another_run = job("k#2");
  of_another_run.run = "another";
  EXPECT_TRUE(start(*evaluator, of_another_run).get());
  EXPECT_EQ(backend_->runs, 2);
}

TEST_F(StagedEvaluator, RunsWhatIsAskedAgainOrStandsAlone) {
  const auto evaluator = make();
  EXPECT_TRUE(start(*evaluator, job("k#1")).get());
  EXPECT_TRUE(start(*evaluator, job("k#1")).get());
  EvaluationJob alone = job("k#2");
  alone.careful = true;
  EXPECT_TRUE(start(*evaluator, alone).get());
  alone = job("k#3");
  alone.may_edit_frozen = true;
  EXPECT_TRUE(start(*evaluator, alone).get());
  alone = job("k#4");
  alone.rival = Rival{ProgramId{1}, job("k#1").source};
  EXPECT_TRUE(start(*evaluator, alone).get());
  EXPECT_EQ(backend_->runs, 5);
}

TEST_F(StagedEvaluator, NoVerdictOutlivesAConfirmation) {
  const auto evaluator = make();
  EXPECT_TRUE(start(*evaluator, job("k#1")).get());
  EvaluationJob confirm = job("k#1");
  confirm.remeasurement = Remeasurement::confirm;
  EXPECT_TRUE(start(*evaluator, confirm).get());
  EXPECT_TRUE(start(*evaluator, job("k#2")).get());
  EXPECT_EQ(backend_->runs, 3);
}

TEST_F(StagedEvaluator, SharesARejectionOnlyForWhatWasComputed) {
  const auto evaluator = make();
  for (const char* text : {"wrong#1", "wrong#2"})
    EXPECT_EQ(start(*evaluator, job(text)).get()->rejection()->code, RejectionCode::wrong_output);
  EXPECT_EQ(backend_->runs, 1);
  for (const char* text : {"slow#1", "slow#2"})
    EXPECT_EQ(start(*evaluator, job(text)).get()->rejection()->code, RejectionCode::too_slow);
  EXPECT_EQ(backend_->runs, 3);
}

TEST_F(StagedEvaluator, BuildsAgainWhatIsConfirmed) {
  const auto evaluator = make();
  EvaluationJob confirm = job("steady");
  confirm.remeasurement = Remeasurement::confirm;
  accepted(start(*evaluator, confirm).get());
  EXPECT_EQ(backend_->compilations, 2);

  confirm.source = job("whimsical").source;
  EXPECT_EQ(rejection_of(start(*evaluator, confirm).get()).code, RejectionCode::not_reproducible);
}

TEST_F(StagedEvaluator, ForgetsTheLeastRecentlyUsedBinary) {
  const auto evaluator = make({.cached_binaries = 2});
  for (const char* text : {"a", "b", "a", "c", "a", "b"}) EXPECT_TRUE(start(*evaluator, job(text)).get());
  EXPECT_EQ(backend_->compilations, 4) << "a, b, c, and b again";
}

TEST_F(StagedEvaluator, HandsTheRivalToTheBackend) {
  EvaluationJob duel = job("challenger");
  duel.rival = Rival{ProgramId{7}, *Source::create({{"k.cpp", "incumbent"}})};
  const Report report = accepted(start(*make(), duel).get()).report();
  EXPECT_EQ(report.hardware, "challenger");
  EXPECT_EQ(report.toolchain, "incumbent");
}

TEST_F(StagedEvaluator, ARivalThatNoLongerCompilesHasLost) {
  EvaluationJob duel = job("challenger");
  duel.rival = Rival{ProgramId{7}, *Source::create({{"k.cpp", "bad"}})};
  EXPECT_TRUE(accepted(start(*make(), duel).get()).report().incumbent_failed);
}

TEST_F(StagedEvaluator, TellsCandidatesFromMachines) {
  const auto evaluator = make();
  EXPECT_EQ(rejection_of(start(*evaluator, job("bad")).get()).code, RejectionCode::compile_failed);
  EXPECT_EQ(start(*evaluator, job("broken machine")).get().error().code, ErrorCode::tool_failed);
  EXPECT_EQ(start(*evaluator, job("throw")).get().error().code, ErrorCode::internal);
}

TEST_F(StagedEvaluator, RejectsAtTheParseStage) {
  const auto evaluator = make({.max_source_bytes = 100});
  const auto code_of = [&](EvaluationJob job) {
    const Rejection rejection = rejection_of(start(*evaluator, std::move(job)).get());
    EXPECT_EQ(rejection.stage, Stage::parse);
    return rejection.code;
  };
  EvaluationJob empty = job("x");
  empty.source = Source();
  EXPECT_EQ(code_of(empty), RejectionCode::unreadable);
  EXPECT_EQ(code_of(job(std::string(101, 'x'))), RejectionCode::too_large);
  EXPECT_EQ(code_of(job("// EVOLVE-BLOCK-START\n")), RejectionCode::unreadable);
  EXPECT_EQ(code_of(job("int x = 3;  // @tune 1 2\n")), RejectionCode::unreadable);
  EXPECT_EQ(backend_->compilations, 0);
}

TEST_F(StagedEvaluator, RejectsChangesOutsideTheBlocks) {
  auto task = std::make_shared<Task>(*task_);
  task->seed = *Source::create({{"k.cpp", "int a;\n// EVOLVE-BLOCK-START\nint b;\n// EVOLVE-BLOCK-END\n"}});
  task_ = task;
  const auto evaluator = make();
  EXPECT_TRUE(start(*evaluator, job("int a;\n// EVOLVE-BLOCK-START\nint c;\n// EVOLVE-BLOCK-END\n"))
                  .get()
                  ->accepted());
  const EvaluationJob outside = job("int z;\n// EVOLVE-BLOCK-START\nint b;\n// EVOLVE-BLOCK-END\n");
  EXPECT_EQ(rejection_of(start(*evaluator, outside).get()).code, RejectionCode::frozen_changed);

  EvaluationJob own = job("int z;\n");
  own.may_edit_frozen = true;
  EXPECT_TRUE(start(*evaluator, own).get()->accepted());
}

TEST_F(StagedEvaluator, TakesCareWhereItIsAskedToAndOfWhatItConfirms) {
  const auto evaluator = make();
  EvaluationJob asked = job("x");
  ASSERT_TRUE(start(*evaluator, asked).get());
  EXPECT_EQ(backend_->careful, 0);
  asked.careful = true;
  ASSERT_TRUE(start(*evaluator, asked).get());
  EXPECT_EQ(backend_->careful, 1);
  EvaluationJob confirmed = job("y");
  confirmed.remeasurement = Remeasurement::confirm;
  ASSERT_TRUE(start(*evaluator, confirmed).get());
  EXPECT_EQ(backend_->careful, 2);
}

TEST_F(StagedEvaluator, RefusesAJobOfAnotherTask) {
  EvaluationJob foreign = job("x");
  foreign.task = digest_of("another");
  EXPECT_EQ(start(*make(), foreign).get().error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace kernelsmith
