// run(): retries, errors in a row, stopping, and an evaluator that loses, doubles, delays and reorders
// answers.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "loopback.hpp"
#include "notices.hpp"
#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;

/// What must hold of every journal and of what the observer got.
void expect_consistent(const EngineOptions& options, const Events& events, const Engine& engine) {
  EXPECT_EQ(text_of(engine), replayed(options, events));
  std::set<TicketId> opened, proposed, answered;
  for (const auto& event : *events) {
    if (const auto* one = std::get_if<TicketOpened>(&event)) {
      EXPECT_TRUE(opened.insert(one->ticket).second);
    }
    if (const auto* one = std::get_if<ProposalArrived>(&event)) {
      EXPECT_TRUE(proposed.insert(one->ticket).second);
    }
    if (const auto* one = std::get_if<EvaluationArrived>(&event)) {
      EXPECT_TRUE(answered.insert(one->ticket).second);
    }
    if (const auto* one = std::get_if<TicketClosed>(&event)) {
      EXPECT_TRUE(answered.insert(one->ticket).second);
    }
  }
  engine.inspect([&](const SearchState& state) {
    EXPECT_EQ(opened.size(), answered.size() + state.open().size());
    const auto& counts = state.counts();
    EXPECT_EQ(counts.accepted + counts.rejected, state.programs().size());
    EXPECT_EQ(answered.size(), counts.accepted + counts.rejected + counts.repeated + counts.refused +
                                   counts.remeasured + counts.given_back);
  });
}

TEST(Run, SpendsItsBudgetAndTellsEveryCommit) {
  const auto options = toy_options(40);
  const auto events = no_events();
  Engine engine = open_engine(options, events, blocking(score, 2), blocking(nudge, 2));
  std::uint64_t commits = 0;
  double best = 0;
  const auto note = [&](const Commit& commit) {
    ++commits;
    if (commit.new_best) best = commit.fitness;
  };
  const auto outcome = engine.run(note).value();
  EXPECT_EQ(outcome.reason, EndReason::budget);
  EXPECT_EQ(outcome.counts.iterations, 40U);
  EXPECT_EQ(commits, 41U);
  EXPECT_EQ(best, outcome.best->evaluation.metrics()->fitness().median);
  EXPECT_GT(best, 30);
  EXPECT_TRUE(engine.done());
  expect_consistent(options, events, engine);
}

TEST(Run, NeedsAnEvaluatorAndAProposer) {
  Engine engine = open_engine(toy_options(), no_events());
  EXPECT_EQ(engine.run().error().code, ErrorCode::invalid_argument);
}

TEST(Run, KeepsToTheLimitsInFlight) {
  auto options = toy_options(60);
  options.evaluations_in_flight = 3;
  options.proposals_in_flight = 5;
  std::atomic<int> evaluating = 0, proposing = 0, most_evaluating = 0, most_proposing = 0;
  const auto count = [](std::atomic<int>& now, std::atomic<int>& most) {
    const int value = ++now;
    int seen = most;
    while (seen < value && !most.compare_exchange_weak(seen, value)) {
    }
  };
  Engine engine = open_engine(options, no_events(),
                              blocking(
                                  [&](const EvaluationJob& job) {
                                    count(evaluating, most_evaluating);
                                    auto evaluation = score(job);
                                    --evaluating;
                                    return evaluation;
                                  },
                                  8),
                              blocking(
                                  [&](const ProposalRequest& request) {
                                    count(proposing, most_proposing);
                                    auto source = nudge(request);
                                    --proposing;
                                    return source;
                                  },
                                  8));
  ASSERT_TRUE(engine.run());
  EXPECT_LE(most_evaluating, 3);
  EXPECT_LE(most_proposing, 5);
}

/// A model whose replies come when the test says so.
class Held final : public Proposer {
 public:
  void start(ProposalRequest request, std::stop_token, Sink<Proposal> done) override {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(request.ticket, std::move(done));
    changed_.notify_all();
  }
  /// Whether so many wait for a reply; gives up a test that would never end.
  bool has(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(2), [&] { return waiting_.size() >= count; });
  }
  void reply(const std::function<Result<Proposal>(TicketId)>& what) {
    std::unique_lock lock(mutex_);
    const auto waiting = std::exchange(waiting_, {});
    lock.unlock();
    for (const auto& [ticket, done] : waiting) done(what(ticket));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<TicketId, Sink<Proposal>>> waiting_;
};

TEST(Run, WithoutASeedThePlacesAreFilledAtOnce) {
  auto options = toy_options(1000);
  options.seeds.clear();
  options.sampler = nullptr;  // the default's opening is 5
  options.proposals_in_flight = 16;
  options.evaluations_in_flight = 16;
  const auto model = std::make_shared<Held>();
  Engine engine = open_engine(options, no_events(), blocking(score, 2), model);
  std::stop_source stop;
  std::jthread run([&] { EXPECT_TRUE(engine.run({}, stop.get_token())); });
  const auto failing = [](TicketId ticket) {
    return Proposal{Child{number(long(ticket.value) * 10 + 3), Origin::rewrite, {}}, {}, {}};
  };
  EXPECT_TRUE(model->has(5)) << "before anybody has replied";
  model->reply(failing);
  EXPECT_TRUE(model->has(10)) << "one more for each that failed";
  model->reply(failing);
  EXPECT_TRUE(model->has(16));
  stop.request_stop();
  model->reply([](TicketId) -> Result<Proposal> { return fail(ErrorCode::cancelled, "stopped"); });
}

TEST(Run, AnErrorIsRetriedWithTheNextAttempt) {
  std::mutex mutex;
  std::set<std::pair<std::uint64_t, std::uint32_t>> seen;
  auto options = toy_options(10);
  options.error_limit = 100;
  const auto events = no_events();
  Engine engine = open_engine(options, events, blocking([&](const EvaluationJob& job) -> Result<Evaluation> {
                                const std::lock_guard lock(mutex);
                                EXPECT_TRUE(seen.emplace(job.candidate.value, job.attempt).second);
                                if (job.attempt < 2) return fail(ErrorCode::unstable, "too noisy");
                                return score(job);
                              }),
                              blocking(nudge));
  const auto outcome = engine.run().value();
  EXPECT_EQ(outcome.reason, EndReason::budget);
  EXPECT_EQ(outcome.counts.iterations, 10U);
  EXPECT_EQ(outcome.counts.given_back, 0U);
  expect_consistent(options, events, engine);
}

TEST(Run, WhatKeepsFailingIsGivenBackAndUsesUpNoBudget) {
  auto options = toy_options(10);
  options.error_limit = 100;  // the tickets that fail may come in a row, without a success between them
  const auto events = no_events();
  Engine engine = open_engine(options, events, blocking(score),
                              blocking([&](const ProposalRequest& request) -> Result<Proposal> {
                                if (request.ticket.value % 4 == 2)
                                  return fail(ErrorCode::io, "connection reset");
                                return as_proposal(request, nudge(request));
                              }));
  const auto outcome = engine.run().value();
  EXPECT_EQ(outcome.reason, EndReason::budget);
  EXPECT_EQ(outcome.counts.iterations, 10U);
  EXPECT_GE(outcome.counts.given_back, 2U);
  expect_consistent(options, events, engine);
}

TEST(Run, WhatIsThePromptsIsNotAskedAgain) {
  auto options = toy_options(3);
  std::vector<TicketId> asked;
  const auto proposer = blocking([&](const ProposalRequest& request) -> Result<Proposal> {
    asked.push_back(request.ticket);
    if (asked.size() % 2 == 1) return fail(ErrorCode::too_long, "the prompt does not fit");
    return as_proposal(request, nudge(request));
  });
  const auto outcome = open_engine(options, no_events(), blocking(score), proposer).run().value();
  EXPECT_EQ(std::set(asked.begin(), asked.end()).size(), asked.size());
  EXPECT_EQ(outcome.counts.iterations, 3U);
  EXPECT_GE(outcome.counts.given_back, 2U);
}

TEST(Run, ANoisyMachineAndABusyOneAreWaitedFor) {
  auto options = toy_options(10);
  options.error_limit = 2;
  options.retries = 3;
  const auto events = no_events();
  Engine engine = open_engine(options, events, blocking([&](const EvaluationJob& job) -> Result<Evaluation> {
                                if (job.attempt < 2) return fail(ErrorCode::unstable, "too noisy");
                                if (job.attempt == 2) return fail(ErrorCode::busy, "a neighbour's memory");
                                return score(job);
                              }),
                              blocking(nudge));
  EXPECT_EQ(engine.run()->reason, EndReason::budget);
  EXPECT_EQ(engine.outcome().counts.iterations, 10U);
  expect_consistent(options, events, engine);
}

TEST(Run, AMachineThatStaysNoisyEndsTheSession) {
  auto options = toy_options(10);
  options.error_limit = 2;
  const auto events = no_events();
  Engine engine = open_engine(options, events, blocking([&](const EvaluationJob& job) -> Result<Evaluation> {
                                if (job.candidate.value > 0) return fail(ErrorCode::unstable, "too noisy");
                                return score(job);
                              }),
                              blocking(nudge));
  EXPECT_EQ(engine.run()->reason, EndReason::errors);
  EXPECT_EQ(engine.outcome().counts.given_back, 1U);
  expect_consistent(options, events, engine);
}

TEST(Run, FiveErrorsInARowWithOneCodeEndTheSessionResumable) {
  const auto options = toy_options(10);
  const auto events = no_events();
  std::atomic<int> calls = 0;
  std::atomic<bool> broken = true;
  const auto evaluator = blocking([&](const EvaluationJob& job) -> Result<Evaluation> {
    if (broken && job.candidate.value > 0) {
      ++calls;
      return fail(ErrorCode::disk_full, "no space left", "/tmp");
    }
    return score(job);
  });
  {
    Engine engine = open_engine(options, events, evaluator, blocking(nudge));
    const auto outcome = engine.run().value();
    EXPECT_EQ(outcome.reason, EndReason::errors);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->code, ErrorCode::disk_full);
    EXPECT_LT(outcome.counts.iterations, 10U);
    EXPECT_GE(calls, 5);
    expect_consistent(options, events, engine);
  }
  broken = false;
  Engine engine = open_engine(options, events, evaluator, blocking(nudge));
  EXPECT_EQ(engine.run()->reason, EndReason::budget);
  EXPECT_EQ(engine.outcome().counts.iterations, 10U);
  expect_consistent(options, events, engine);
}

TEST(Run, CodesThatAlternateWithoutASuccessEndItToo) {
  std::atomic<int> calls = 0;
  Engine engine = open_engine(toy_options(), no_events(), blocking(score),
                              blocking([&](const ProposalRequest&) -> Result<Proposal> {
                                return fail(++calls % 2 ? ErrorCode::io : ErrorCode::timeout, "no luck");
                              }));
  const auto outcome = engine.run().value();
  EXPECT_EQ(outcome.reason, EndReason::errors);
  EXPECT_LE(calls, 40);
}

TEST(Run, AModelWhoseRepliesGiveNoProgramIsToldOfAndEndsTheRun) {
  for (const bool now_and_then : {false, true}) {
    auto options = toy_options(150);
    options.proposals_in_flight = 1;
    const auto notices = std::make_shared<Notices>();
    options.observer = notices;
    std::atomic<int> asked = 0;
    const auto proposer = blocking([&](const ProposalRequest& request) -> Result<Proposal> {
      if (++asked % 50 == 0 && now_and_then) return as_proposal(request, nudge(request));
      return Proposal{Refusal{RefusalCode::no_code, "it says hello"}, {}, {}};
    });
    Engine engine = open_engine(options, no_events(), blocking(score), proposer);
    const auto outcome = engine.run().value();
    const auto told = std::ranges::count_if(notices->messages, [](const std::string& message) {
      return message.find("20 replies in a row without a program") != std::string::npos &&
             message.find("no_code: it says hello") != std::string::npos;
    });
    EXPECT_EQ(told, now_and_then ? 3 : 1);
    EXPECT_EQ(outcome.reason, now_and_then ? EndReason::budget : EndReason::errors);
    EXPECT_EQ(outcome.counts.iterations, now_and_then ? 150U : 60U);
    if (now_and_then) continue;
    EXPECT_EQ(outcome.error->code, ErrorCode::bad_reply);
    EXPECT_NE(outcome.error->message.find("60 replies in a row gave no program"), std::string::npos);
    EXPECT_EQ(engine.run()->counts.iterations, 120U) << "another session begins anew";
  }
}

TEST(Run, ASeedIsNeverGivenBack) {
  const auto events = no_events();
  Engine engine = open_engine(toy_options(), events, blocking([](const EvaluationJob&) -> Result<Evaluation> {
                                return fail(ErrorCode::tool_missing, "no compiler");
                              }),
                              blocking(nudge));
  const auto outcome = engine.run();
  EXPECT_EQ(outcome->reason, EndReason::errors);
  EXPECT_EQ(outcome->error->code, ErrorCode::tool_missing);
  EXPECT_EQ(outcome->counts.given_back, 0U);
}

TEST(Run, AnUnwritableJournalEndsItWithTheError) {
  const auto events = no_events();
  Engine engine = Engine::create(std::make_unique<MemoryJournal>(events, 20), toy_options(), blocking(score),
                                 blocking(nudge))
                      .value();
  const auto outcome = engine.run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::disk_full);
  EXPECT_EQ(text_of(engine), replayed(toy_options(), events));
}

TEST(Run, StopsInOrderAndGoesOnInTheSameProcess) {
  const auto options = toy_options(50);
  const auto events = no_events();
  Engine engine = open_engine(options, events, blocking(score), blocking(nudge));
  std::stop_source stop;
  int commits = 0;
  const auto stop_early = [&](const Commit&) {
    if (++commits == 10) stop.request_stop();
  };
  const auto stopped = engine.run(stop_early, stop.get_token()).value();
  EXPECT_EQ(stopped.reason, EndReason::stopped);
  EXPECT_LT(stopped.counts.iterations, 50U);
  expect_consistent(options, events, engine);
  EXPECT_EQ(engine.run()->reason, EndReason::budget);
  EXPECT_EQ(engine.outcome().counts.iterations, 50U);
  EXPECT_EQ(engine.outcome().counts.given_back, 0U);
  expect_consistent(options, events, engine);
}

TEST(Run, AStopReachesWhatIsInFlight) {
  struct Patient final : Proposer {
    void start(ProposalRequest, std::stop_token stop, Sink<Proposal> done) override {
      asked.wait(std::move(stop), std::move(done));
    }
    UntilStopped<Proposal> asked;
  };
  const auto events = no_events();
  Engine engine = open_engine(toy_options(), events, blocking(score), std::make_shared<Patient>());
  std::stop_source stop;
  const auto outcome = engine.run([&](const Commit&) { stop.request_stop(); }, stop.get_token()).value();
  EXPECT_EQ(outcome.reason, EndReason::stopped);
  EXPECT_EQ(outcome.counts.given_back, 0U);
}

TEST(Run, AnExceptionOfTheCallersLeavesEverythingResumable) {
  const auto options = toy_options(20);
  const auto events = no_events();
  Engine engine = open_engine(options, events, blocking(score), blocking(nudge));
  EXPECT_THROW((void)engine.run([](const Commit& commit) {
    if (commit.ticket.value == 5) throw std::runtime_error("mine");
  }),
               std::runtime_error);
  EXPECT_EQ(engine.run()->reason, EndReason::budget);
  EXPECT_EQ(engine.outcome().counts.iterations, 20U);
  expect_consistent(options, events, engine);
}

class LoopbackRun : public ::testing::TestWithParam<std::tuple<std::uint64_t, bool>> {};

TEST_P(LoopbackRun, NothingIsLostAndNothingIsDoubled) {
  auto options = toy_options(200);
  options.deterministic = std::get<1>(GetParam());
  options.topology = Topology::ring(3).value();
  options.repairs = 1;
  options.evaluations_in_flight = 6;
  options.proposals_in_flight = 6;
  options.answer_timeout_s = 0.05;
  options.error_limit = 1000;
  const auto events = no_events();
  const auto loopback =
      std::make_shared<Loopback>(score, Mischief{std::get<0>(GetParam()), 0.2, 0.03, 0.02, 0.1});
  Engine engine = open_engine(options, events, loopback, blocking(nudge, 2));
  std::set<TicketId> committed;
  const auto outcome =
      engine.run([&](const Commit& commit) { EXPECT_TRUE(committed.insert(commit.ticket).second); });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->counts.iterations, 200U);
  EXPECT_TRUE(engine.done());
  expect_consistent(options, events, engine);

  std::uint64_t evaluated = 0, closed = 0;
  for (const auto& event : *events) {
    const auto* arrived = std::get_if<EvaluationArrived>(&event);
    evaluated += arrived && arrived->source == EvaluationSource::evaluated;
    closed += std::holds_alternative<TicketClosed>(event);
  }
  engine.inspect([&](const SearchState& state) { EXPECT_EQ(committed.size(), state.next_ticket().value); });
  EXPECT_EQ(closed, outcome->counts.given_back + outcome->counts.refused);
  const auto counts = loopback->counts();
  EXPECT_GT(counts.duplicated, 0U);
  EXPECT_GT(counts.late + counts.lost, 0U);
  EXPECT_GT(counts.failed, 0U);
  EXPECT_GE(counts.started, evaluated + counts.lost);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LoopbackRun,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4), ::testing::Bool()));

/// Somebody takes it away, and no append comes that would notice.
class LosableJournal final : public MemoryJournal {
 public:
  explicit LosableJournal(std::shared_ptr<std::atomic<bool>> lost)
      : MemoryJournal(no_events()), lost_(std::move(lost)) {}
  Status check() const override {
    return *lost_ ? Status(fail(ErrorCode::io, "the journal is gone")) : Status();
  }

 private:
  std::shared_ptr<std::atomic<bool>> lost_;
};

/// Loses the journal when it is asked, and answers only when it is told to stop.
class Losing final : public Evaluator {
 public:
  explicit Losing(std::shared_ptr<std::atomic<bool>> lost) : lost_(std::move(lost)) {}
  void start(EvaluationJob, std::stop_token stop, Sink<Evaluation> done) override {
    *lost_ = true;
    asked_.wait(std::move(stop), std::move(done));
  }

 private:
  std::shared_ptr<std::atomic<bool>> lost_;
  UntilStopped<Evaluation> asked_;
};

Engine losing_engine() {
  const auto lost = std::make_shared<std::atomic<bool>>(false);
  return Engine::create(std::make_unique<LosableJournal>(lost), toy_options(), std::make_shared<Losing>(lost),
                        blocking(nudge))
      .value();
}

TEST(Run, AJournalThatIsLostIsNoticedWhileARunWaits) {
  const auto outcome = losing_engine().run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "the journal is gone");
}

TEST(Run, AndWhileARecordingIsMeasuredAnew) {
  const auto recording = no_events();
  ASSERT_TRUE(open_engine(toy_options(), recording, blocking(score), blocking(nudge)).run());
  const auto followed =
      losing_engine().follow(MemoryJournal(recording), RecordedEvaluations::measured).value();
  EXPECT_EQ(followed.end, Followed::End::failed);
  EXPECT_EQ(followed.why->message, "the journal is gone");
}

}  // namespace
}  // namespace kernelsmith
