// The table of requests over evaluators that answer when the test says so.
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "fake_evaluators.hpp"

namespace kernelsmith::service {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class JobTableTest : public ::testing::Test {
 protected:
  JobTableTest() {
    options_.make_evaluator = bench_.maker();
    options_.workers = 1;
  }

  JobTable& table() {
    if (!table_) table_ = std::make_unique<JobTable>(options_);
    return *table_;
  }
  SubmitResult submit(Submission submission) {
    std::vector<Submission> one;
    one.push_back(std::move(submission));
    return table().submit(std::move(one), obstacle_);
  }
  SubmitResult submit(const std::string& id, Priority priority = Priority::normal) {
    return submit(a_submission(id, task_, priority));
  }
  void wait_until_finished(const std::string& id, std::chrono::milliseconds limit) {
    const auto over = std::make_shared<std::promise<void>>();  // its thread may still be at it when we go on
    table().when_finished(id, limit, [over] { over->set_value(); });
    over->get_future().wait();
  }
  /// Until the request is finished.
  Json wait_for(const std::string& id) {
    wait_until_finished(id, 60s);
    return Json::parse(table().answer(id)->body);
  }

  Bench bench_;
  TaskPtr task_ = a_task("hill");
  ServiceOptions options_;
  Obstacle obstacle_;
  std::unique_ptr<JobTable> table_;
};

TEST_F(JobTableTest, ARequestGoesFromPendingToCompleted) {
  EXPECT_EQ(submit("a"), SubmitResult::accepted);
  const auto started = bench_.next();
  EXPECT_EQ(started.job.source.main_text(), "a");
  EXPECT_EQ(started.job.task, task_->digest);
  EXPECT_EQ((*table().status("a"))["status"], "processing");
  EXPECT_EQ(table().answer("a")->state, State::processing);
  started.done(accepted(2));
  const Json result = wait_for("a");
  EXPECT_EQ(result["status"], "completed");
  EXPECT_EQ(result["correctness"], true);
  EXPECT_EQ(result["speedup"], 2.0);
  EXPECT_FALSE(table().answer("b"));
  EXPECT_FALSE(table().status("b"));
}

TEST_F(JobTableTest, AnIdIsEvaluatedOnceAndStandsForOneContent) {
  submit("a");
  EXPECT_EQ(submit("a"), SubmitResult::accepted);
  bench_.answer(accepted(1));
  wait_for("a");
  EXPECT_EQ(submit("a"), SubmitResult::accepted);
  EXPECT_EQ(table().counts().submitted, 1);
  EXPECT_EQ(table().counts().repeated, 2);
  Submission other = a_submission("a", task_);
  other.request.digest = digest_of("another content");
  EXPECT_EQ(submit(std::move(other)), SubmitResult::conflict);
  EXPECT_EQ(obstacle_.conflicting_id, "a");
}

TEST_F(JobTableTest, HigherPrioritiesComeFirstThenTheOrderOfSubmission) {
  submit("first");
  submit("low", Priority::low);
  submit("normal");
  submit("high", Priority::high);
  submit("later");
  EXPECT_EQ((*table().status("later"))["queue_position"], 2);
  EXPECT_EQ((*table().status("low"))["queue_position"], 3);
  std::vector<std::string> order;
  for (int i = 0; i < 5; ++i) order.push_back(bench_.answer(accepted(1)));
  EXPECT_THAT(order, ElementsAre("first", "high", "normal", "later", "low"));
}

TEST_F(JobTableTest, ARejectionIsAResultAndAnErrorIsAFailure) {
  submit("bad");
  bench_.answer(Evaluation(Rejection{Stage::correctness, RejectionCode::wrong_output, "differs at [0]", {}}));
  const Json bad = wait_for("bad");
  EXPECT_EQ(bad["status"], "completed");
  EXPECT_EQ(bad["correctness"], false);
  EXPECT_EQ(bad["error_code"], "CORRECTNESS_ERROR");
  submit("lost");
  bench_.answer(fail(ErrorCode::refused, "the reference fails its own check"));
  const Json lost = wait_for("lost");
  EXPECT_EQ(lost["status"], "failed");
  EXPECT_EQ(lost["correctness"], nullptr);
  EXPECT_EQ(lost["speedup"], nullptr);
  EXPECT_EQ(lost["error_code"], "VALIDATION_ERROR");
  EXPECT_THAT((*table().status("lost"))["error_message"].get<std::string>(), HasSubstr("its own check"));
}

TEST_F(JobTableTest, WhatTheMachineFailsAtIsEvaluatedAgain) {
  options_.rest = 0ms;
  submit("a");
  bench_.answer(fail(ErrorCode::disk_full, "no space left", "/tmp"));
  const auto again = bench_.next();
  EXPECT_EQ(again.job.attempt, 1) << "a fleet would answer the same attempt with the same failure";
  again.done(accepted(3));
  EXPECT_EQ(wait_for("a")["speedup"], 3.0);
  EXPECT_EQ(wait_for("a")["error_message"], nullptr);
  EXPECT_THAT(bench_.made(), ElementsAre(Pair("hill", 2))) << "the evaluator may be what is broken";
}

TEST_F(JobTableTest, WhileTheMachineFailsRequestsOfTheTaskAreNotTaken) {
  options_.rest = 1h;
  submit("a");
  submit("queued");
  bench_.answer(fail(ErrorCode::tool_failed, "the GPU is lost"));
  for (const std::string id : {"a", "queued"}) EXPECT_EQ((*table().status(id))["status"], "pending") << id;
  EXPECT_THAT((*table().status("a"))["error_message"].get<std::string>(),
              AllOf(HasSubstr("the GPU is lost"), HasSubstr("it is tried again")));
  EXPECT_EQ(table().counts().all_pending(), 2);
  EXPECT_EQ(submit("b"), SubmitResult::resting);
  EXPECT_THAT(obstacle_.machine_fault, HasSubstr("the GPU is lost"));
  EXPECT_EQ(obstacle_.pause, 1h);
  EXPECT_EQ(submit("a"), SubmitResult::accepted) << "it is known";
  EXPECT_EQ(submit(a_submission("c", a_task("dale"))), SubmitResult::accepted);
  EXPECT_EQ(bench_.answer(accepted(1)), "c") << "another task does not rest";
  wait_for("c");
  EXPECT_EQ(table().cancel("a")->state, State::cancelled);
}

TEST_F(JobTableTest, OneThatFailsWhileOthersSucceedEndsAsFailed) {
  options_.rest = 0ms;
  submit("bad");
  int failures = 0;
  for (int good = 0; table().answer("bad")->state != State::failed; ++good) {
    submit("good" + std::to_string(good));
    auto started = bench_.next();
    const bool is_bad = started.job.source.main_text() == "bad";
    failures += is_bad;
    started.done(is_bad ? Result<Evaluation>(fail(ErrorCode::tool_failed, "it ended")) : accepted(1));
  }
  EXPECT_EQ(failures, 5) << "the first one is followed by four after which another one succeeded";
}

TEST_F(JobTableTest, AFailedRequestThatIsSubmittedAgainIsEvaluatedAgain) {
  submit("a");
  bench_.answer(fail(ErrorCode::refused, "no"));
  wait_for("a");
  EXPECT_EQ(submit("a"), SubmitResult::accepted);
  EXPECT_EQ(bench_.answer(accepted(2)), "a");
  EXPECT_EQ(wait_for("a")["speedup"], 2.0);
  EXPECT_EQ(table().counts().kept, 1);
}

TEST_F(JobTableTest, WhereRequestsWaitForTooLongNoMoreAreTaken) {
  options_.late = 0ms;
  bench_.let_wait();
  EXPECT_EQ(submit("started"), SubmitResult::accepted);
  const auto started = bench_.next();
  EXPECT_EQ(submit("b"), SubmitResult::late);
  started.works(true);
  EXPECT_EQ(submit("low", Priority::low), SubmitResult::accepted);
  EXPECT_EQ(submit("lower", Priority::low), SubmitResult::late);
  EXPECT_EQ(submit("high", Priority::high), SubmitResult::accepted) << "it comes before those that wait";
}

TEST_F(JobTableTest, JobsOfAServiceThatIsStartedAnewAreOthers) {
  submit("a");
  const std::string run = bench_.next().job.run;
  table_.reset();
  submit("a");
  EXPECT_NE(bench_.next().job.run, run);
}

TEST_F(JobTableTest, ANoisyMachineIsAskedAgain) {
  submit("a");
  bench_.answer(fail(ErrorCode::unstable, "noise"));
  const auto again = bench_.next();
  EXPECT_EQ(again.job.attempt, 1);
  again.done(accepted(3));
  EXPECT_EQ(wait_for("a")["speedup"], 3.0);
  EXPECT_EQ(table().counts().retried, 1);
}

TEST_F(JobTableTest, WhatIsCancelledEndsAtOnceAndStaysSo) {
  submit("running");
  const auto started = bench_.next();
  submit("waiting");
  EXPECT_EQ(table().cancel("waiting")->state, State::cancelled);
  EXPECT_EQ(table().cancel("running")->state, State::cancelled);  // its evaluator answers inside
  started.done(accepted(9));                                      // too late
  EXPECT_EQ(table().answer("running")->state, State::cancelled);
  EXPECT_FALSE(table().cancel("unknown"));
  submit("next");
  EXPECT_EQ(bench_.answer(accepted(1)), "next");
  wait_for("next");
  EXPECT_EQ(table().cancel("next")->state, State::completed);
}

TEST_F(JobTableTest, TheRequestsTimeoutCountsFromItsBeginning) {
  Submission short_lived = a_submission("slow", task_);
  short_lived.request.timeout_s = 0.01;
  submit(std::move(short_lived));
  const Json result = wait_for("slow");
  EXPECT_EQ(result["status"], "timeout");
  EXPECT_EQ(result["error_code"], "TIMEOUT_ERROR");
  EXPECT_EQ(result["correctness"], nullptr);
}

/// Three requests with the same timeout: the one that is evaluated runs out of it, those that wait do not.
TEST_F(JobTableTest, WaitingForATurnDoesNotCountForTheTimeout) {
  options_.workers = 3;
  bench_.let_wait();
  const auto begun = [&](const std::string& id) {  // one after the other: workers begin in any order
    Submission submission = a_submission(id, task_);
    submission.request.timeout_s = 0.5;
    submit(std::move(submission));
    return bench_.next();
  };
  const auto waits = begun("waits"), pauses = begun("pauses"), works = begun("works");
  pauses.works(true);
  pauses.works(false);
  works.works(true);
  EXPECT_EQ(wait_for("works")["status"], "timeout");
  EXPECT_EQ(table().answer("waits")->state, State::processing);
  EXPECT_EQ(table().answer("pauses")->state, State::processing);
  pauses.works(true);
  EXPECT_EQ(wait_for("pauses")["status"], "timeout") << "what it worked before counts";
}

TEST_F(JobTableTest, WhoWaitsForTooLongIsToldThatTheServiceFailed) {
  options_.max_wait = 10ms;
  bench_.let_wait();
  std::vector<Submission> both;
  both.push_back(a_submission("started", task_));
  both.push_back(a_submission("queued", task_));
  EXPECT_EQ(table().submit(std::move(both), obstacle_), SubmitResult::accepted);
  const auto started = bench_.next();
  for (const std::string id : {"started", "queued"}) {
    const Json result = wait_for(id);
    EXPECT_EQ(result["status"], "failed") << id;
    EXPECT_EQ(result["error_code"], "RESOURCE_ERROR");
    EXPECT_EQ(result["correctness"], nullptr) << "no reward follows";
    EXPECT_EQ(result["speedup"], nullptr);
    EXPECT_THAT(result["error_message"].get<std::string>(), HasSubstr("submit it again"));
    EXPECT_EQ(result["metadata"]["kernelsmith"]["error"], "busy");
  }
}

TEST_F(JobTableTest, AFullQueueTakesAllOfABatchOrNothing) {
  options_.max_queue = 2;
  submit("running");
  bench_.next();
  submit("one");
  std::vector<Submission> batch;
  batch.push_back(a_submission("two", task_));
  batch.push_back(a_submission("three", task_));
  EXPECT_EQ(table().submit(std::move(batch), obstacle_), SubmitResult::full);
  EXPECT_FALSE(table().answer("two"));
  EXPECT_EQ(submit("two"), SubmitResult::accepted);
  EXPECT_EQ(submit("one"), SubmitResult::accepted);  // known
  EXPECT_EQ(submit("three"), SubmitResult::full);
}

TEST_F(JobTableTest, ResultsGoWhenTheyAreOldOrTooMany) {
  options_.max_result_bytes = 1;  // the newest stays, whatever its size
  submit("a");
  bench_.answer(accepted(1));
  wait_for("a");
  submit("b");
  bench_.answer(accepted(1));
  wait_for("b");
  EXPECT_FALSE(table().answer("a"));
  EXPECT_TRUE(table().answer("b"));
  table_.reset();
  options_.keep = 0ms;
  submit("c");
  bench_.answer(accepted(1));
  while (table().answer("c")) std::this_thread::yield();
  EXPECT_EQ(submit("c"), SubmitResult::accepted);
  EXPECT_EQ(bench_.answer(accepted(1)), "c");
}

TEST_F(JobTableTest, EvaluatorsAreMadeOnceForATaskAndTheOldestGoes) {
  options_.prepared_tasks = 2;
  const std::vector<std::string> tasks = {"x", "y", "x", "z", "x", "y"};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::string id = "job" + std::to_string(i);
    submit(a_submission(id, a_task(tasks[i])));
    bench_.answer(accepted(1));
    wait_for(id);
  }
  EXPECT_THAT(bench_.made(), ElementsAre(Pair("x", 1), Pair("y", 2), Pair("z", 1)));
  EXPECT_EQ(table().counts().prepared_tasks, 2);
}

TEST_F(JobTableTest, ARequestOfAPreparedTaskComesBeforeOneThatHasToEvictIt) {
  options_.prepared_tasks = 1;
  submit(a_submission("x1", a_task("x")));
  const auto first = bench_.next();
  submit(a_submission("y1", a_task("y")));
  submit(a_submission("x2", a_task("x")));
  first.done(accepted(1));
  EXPECT_EQ(bench_.answer(accepted(1)), "x2");
  EXPECT_EQ(bench_.answer(accepted(1)), "y1");
}

TEST_F(JobTableTest, MoreTasksThanRoomWaitForOneAnother) {
  options_.prepared_tasks = 1;
  options_.workers = 3;
  for (const char* name : {"x", "y", "z"}) submit(a_submission(name, a_task(name)));
  std::set<std::string> done;
  for (int i = 0; i < 3; ++i) done.insert(bench_.answer(accepted(1)));
  EXPECT_EQ(done.size(), 3);
}

TEST_F(JobTableTest, APreparedTaskDoesNotWaitForOthersThatAreBeingPrepared) {
  options_.workers = 8;
  submit("first");
  bench_.answer(accepted(1));
  for (const char* name : {"gated1", "gated2", "gated3"}) submit(a_submission(name, a_task(name)));
  submit("second");
  EXPECT_EQ(bench_.answer(accepted(1)), "second");
  bench_.open_gate();
  for (int i = 0; i < 3; ++i) bench_.answer(accepted(1));
}

TEST_F(JobTableTest, ATaskThatCannotBePreparedIsTriedAgainUntilItsRequestsWaitedForTooLong) {
  options_.rest = 0ms;
  options_.max_wait = 10ms;
  submit(a_submission("a", a_task("broken")));
  const Json result = wait_for("a");
  EXPECT_EQ(result["status"], "failed");
  EXPECT_EQ(result["error_code"], "RESOURCE_ERROR");
  EXPECT_THAT(result["error_message"].get<std::string>(), HasSubstr("install one"));
}

TEST_F(JobTableTest, DrainingFinishesWhatRunsAndDropsWhatWaits) {
  submit("running");
  const auto started = bench_.next();
  submit("waiting");
  std::thread draining([&] { table().drain({}); });
  wait_for("waiting");
  EXPECT_EQ(table().answer("waiting")->state, State::cancelled);
  EXPECT_EQ(submit("late"), SubmitResult::draining);
  EXPECT_EQ(submit("running"), SubmitResult::accepted);
  started.done(accepted(1));
  draining.join();
  EXPECT_EQ(table().answer("running")->state, State::completed);
}

TEST_F(JobTableTest, WhatDrainingDoesNotWaitForIsAnswered) {
  options_.drain_limit = 1ms;
  submit("running");
  bench_.next();
  bool told = false;
  table().when_finished("running", 1h, [&] { told = true; });
  table().drain({});
  EXPECT_EQ(table().answer("running")->state, State::cancelled);
  EXPECT_TRUE(told);
}

TEST_F(JobTableTest, WhatRunsIsGivenUpWithTheTable) {
  submit("running");
  bench_.next();
  table_.reset();  // returns
}

TEST_F(JobTableTest, WaitingHasAnEndToo) {
  submit("running");
  wait_until_finished("running", 1ms);
  EXPECT_EQ(table().answer("running")->state, State::processing);
}

TEST_F(JobTableTest, SlotsSayWhatTheyDo) {
  options_.workers = 2;
  submit("a");
  bench_.next();
  const auto slots = table().slots();
  ASSERT_EQ(slots.size(), 2);
  EXPECT_EQ(slots[0].task_id, "a");
  EXPECT_EQ(slots[1].task_id, "");
}

}  // namespace
}  // namespace kernelsmith::service
