#include "pending_jobs.hpp"

#include <thread>

#include <kernelsmith/core/blocking.hpp>

namespace kernelsmith::fleet {
namespace {

JobId id_of(std::uint64_t candidate, std::uint32_t round = 0, char digest = 'a') {
  return {{"run", {candidate}, 0, std::string(32, digest)}, round};
}

Evaluation scored(double fitness) { return as_evaluation(fitness).value(); }

/// A job whose answers are kept.
struct Waiting {
  std::vector<Result<Evaluation>> answers;
  std::stop_source stop;

  bool add_to(PendingJobs& jobs, const JobId& id) {
    return jobs.add({id, "{}"}, stop.get_token(),
                    [this](Result<Evaluation> answer) { answers.push_back(std::move(answer)); });
  }
};

TEST(PendingJobs, EachIsAnsweredOnce) {
  PendingJobs jobs;
  Waiting one;
  ASSERT_TRUE(one.add_to(jobs, id_of(1)));
  EXPECT_FALSE(one.add_to(jobs, id_of(1)));
  EXPECT_TRUE(jobs.deliver({id_of(1), "w", scored(1)}));
  EXPECT_FALSE(jobs.deliver({id_of(1), "w", scored(2)}));
  EXPECT_EQ(one.answers.size(), 1U);
  jobs.wait_until_empty();
}

TEST(PendingJobs, AResultOfAnotherJobIsNone) {
  PendingJobs jobs;
  Waiting one;
  one.add_to(jobs, id_of(1));
  EXPECT_FALSE(jobs.deliver({id_of(1, 0, 'b'), "w", scored(1)}));
  EXPECT_FALSE(jobs.deliver({id_of(2), "w", scored(1)}));
  EXPECT_TRUE(one.answers.empty());
}

TEST(PendingJobs, AnErrorOfAnEarlierRoundIsOld) {
  PendingJobs jobs;
  Waiting one, two;
  one.add_to(jobs, id_of(1));
  two.add_to(jobs, id_of(2));
  jobs.mark_asked("kernelsmith.results.run.1.0", id_of(1, 2), 17);
  EXPECT_FALSE(jobs.deliver({id_of(1, 1), "w", fail(ErrorCode::unstable, "noise")}));
  EXPECT_TRUE(jobs.deliver({id_of(1, 2), "w", fail(ErrorCode::unstable, "noise")}));
  // A score is one, whichever round asked for it.
  EXPECT_TRUE(jobs.ask_again("kernelsmith.results.run.2.0"));
  EXPECT_TRUE(jobs.deliver({id_of(2, 0), "w", scored(2)}));
}

TEST(PendingJobs, WhatWasAskedHasASequence) {
  PendingJobs jobs;
  Waiting one, two;
  one.add_to(jobs, id_of(1));
  two.add_to(jobs, id_of(2));
  jobs.mark_asked("kernelsmith.results.run.1.0", id_of(1), 17);
  const auto asked = jobs.asked_before(std::chrono::steady_clock::now());
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked.front().sequence, 17U);
  jobs.fail_all(fail(ErrorCode::timeout, "no worker"), true);
  EXPECT_EQ(one.answers.size(), 1U);
  EXPECT_EQ(jobs.finish("kernelsmith.results.run.2.0", scored(1)), 0U);
}

TEST(PendingJobs, StopsAreSeen) {
  PendingJobs jobs;
  Waiting one, two;
  one.add_to(jobs, id_of(1));
  two.add_to(jobs, id_of(2));
  two.stop.request_stop();
  EXPECT_EQ(jobs.stopped(), std::vector<std::string>{"kernelsmith.results.run.2.0"});
}

TEST(PendingJobs, ManyThreadsAnswerEachOnce) {
  PendingJobs jobs;
  std::atomic<int> answered = 0;
  constexpr std::uint64_t kJobs = 500;
  for (std::uint64_t i = 0; i < kJobs; ++i)
    jobs.add({id_of(i), "{}"}, {}, [&](const Result<Evaluation>&) { ++answered; });
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (std::uint64_t i = 0; i < kJobs; ++i) jobs.deliver({id_of(i), "w", scored(1)});
      });
  }
  jobs.wait_until_empty();
  EXPECT_EQ(answered, static_cast<int>(kJobs));
}

}  // namespace
}  // namespace kernelsmith::fleet
