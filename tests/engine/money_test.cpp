// Money as a budget: what counts, what is reserved, what is warned of, and that the journal holds all of it.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Cost cost_of(double usd, std::uint64_t calls = 1) {
  return {.usd = usd, .input_tokens = 1000, .output_tokens = 100, .model = "m", .calls = calls};
}

Proposal paid(Source source, double usd) {
  return {Child{std::move(source), Origin::rewrite, {{0}}}, cost_of(usd), {}};
}

/// Answers at once; what a ticket costs and whether it fails is the test's business.
class PaidProposer final : public Proposer {
 public:
  using Answer = std::function<Result<Proposal>(const ProposalRequest&)>;
  explicit PaidProposer(Answer answer) : answer_(std::move(answer)) {}
  void start(ProposalRequest request, std::stop_token, Sink<Proposal> done) override {
    done(answer_(request));
  }

 private:
  Answer answer_;
};

std::shared_ptr<Proposer> costs(double usd) {
  return std::make_shared<PaidProposer>(
      [usd](const ProposalRequest& request) { return paid(nudge(request), usd); });
}

struct Warnings final : Observer {
  void on_event(const Event&) override {}
  void on_notice(const Notice& notice) override {
    if (notice.message.find("USD") != std::string::npos) messages.push_back(notice.message);
  }
  std::vector<std::string> messages;
};

EngineOptions money_options(double usd) {
  EngineOptions options = toy_options();
  options.budgets = {.iterations = {}, .evaluations = {}, .wall_s = {}, .usd = usd};
  options.idle_iterations = 10'000;
  return options;
}

Spending spending_in(const EngineOptions& options, const Events& events) {
  return replay(MemoryJournal(events), options).value().spending();
}

TEST(Money, EndsTheRunAndIsNeverExceededByCallsOfOnePrice) {
  const auto events = no_events();
  Engine engine = open_engine(money_options(0.01), events, blocking(score, 2), costs(0.002));
  const auto outcome = engine.run().value();
  EXPECT_EQ(outcome.reason, EndReason::budget);
  EXPECT_EQ(outcome.budget, BudgetName::money);
  EXPECT_EQ(outcome.counts.iterations, 5U);
  EXPECT_NEAR(outcome.spending.usd(), 0.01, 1e-12);
  EXPECT_EQ(outcome.spending.models().at("m").calls, 5U);
  EXPECT_TRUE(engine.done());
}

/// The model makes rewrites, every third of which fails; the tuner makes the other half of the children.
EngineOptions call_options(std::uint64_t calls) {
  EngineOptions options = toy_options();
  options.budgets = {.iterations = {}, .evaluations = {}, .wall_s = {}, .calls = calls};
  options.repairs = 2;
  options.operators = weighted({{{Operator::rewrite, "m"}, 1}, {{Operator::tune, ""}, 1}});
  return options;
}

TEST(Money, ABudgetOfCallsCountsRepairsAndRefusalsAndNotTheTuner) {
  for (const bool deterministic : {false, true}) {
    EngineOptions options = call_options(9);
    options.deterministic = deterministic;
    const auto events = no_events();
    std::atomic<unsigned> asked = 0;
    const auto proposer = std::make_shared<PaidProposer>([&](const ProposalRequest& request) {
      if (request.op == Operator::tune) return paid(nudge(request), 0);
      const unsigned number_of_call = ++asked;
      if (number_of_call == 2) return Proposal{Refusal{RefusalCode::no_code, "prose"}, cost_of(0), {}};
      return paid(number_of_call % 3 == 0 ? number(13 + 10 * long(number_of_call)) : nudge(request), 0);
    });
    Engine engine = open_engine(options, events, blocking(score, 4), proposer);
    const auto outcome = engine.run().value();
    EXPECT_EQ(outcome.budget, BudgetName::calls);
    EXPECT_EQ(asked, 9U);
    EXPECT_GE(outcome.counts.repairs, 1U);
    EXPECT_GE(outcome.counts.refused, 1U);
    EXPECT_GT(outcome.counts.iterations + outcome.counts.repairs, 9U) << "the tuner's come on top";
    EXPECT_EQ(replay(MemoryJournal(events), options).value().calls(), 9U);
    EXPECT_EQ(replayed(options, events), text_of(engine));
  }
}

TEST(Money, CallsUnderWayAreReserved) {
  Engine engine = open_engine(money_options(0.01), no_events());
  ASSERT_TRUE(engine.tell(engine.ask().value()->id, score_of(0)));
  const Ticket first = *engine.ask().value();
  EXPECT_FALSE(engine.ask().value()) << "nobody knows yet what a call costs";
  ASSERT_TRUE(engine.tell(first.id, number(1), score_of(1)));  // one's own child costs nothing
  std::vector<Ticket> free;
  for (int i = 0; i < 3; ++i) free.push_back(*engine.ask().value());
  EXPECT_TRUE(engine.ask().value()) << "as far as is known calls cost nothing";
}

/// Up to the first proposal that cost something.
Events first_call_of(const Events& events) {
  std::size_t count = 0;
  for (const Event& event : *events) {
    ++count;
    const auto* arrived = std::get_if<ProposalArrived>(&event);
    if (arrived && arrived->proposal.cost.usd > 0) break;
  }
  return prefix(events, count);
}

TEST(Money, WhatIsUnderWayIsTakenToCostWhatTheDearestCallDid) {
  const auto options = money_options(0.01);
  const auto events = no_events();
  ASSERT_TRUE(open_engine(options, events, blocking(score, 1), costs(0.004)).run());
  Engine engine = open_engine(options, first_call_of(events));
  EXPECT_NEAR(engine.outcome().spending.usd(), 0.004, 1e-12);
  ASSERT_TRUE(std::holds_alternative<Evaluate>(engine.ask().value()->work)) << "the child that was paid for";
  ASSERT_TRUE(std::holds_alternative<Propose>(engine.ask().value()->work));
  EXPECT_FALSE(engine.ask().value()) << "0.004 are spent, 0.004 under way, and 0.004 more are too many";
  EXPECT_FALSE(engine.done()) << "the one under way may turn out cheaper";
}

TEST(Money, AllOfItIsInTheJournal) {
  const auto options = money_options(0.02);
  const auto events = no_events();
  ASSERT_TRUE(open_engine(options, events, blocking(score, 2), costs(0.003)).run());
  double told = 0;
  for (std::size_t count = 0; count <= events->size(); ++count) {
    if (count > 0)
      if (const auto* arrived = std::get_if<ProposalArrived>(&(*events)[count - 1]))
        told += arrived->proposal.cost.usd;
    EXPECT_NEAR(spending_in(options, prefix(events, count)).usd(), told, 1e-12) << count;
  }
  EXPECT_NEAR(told, 0.018, 1e-12);
}

TEST(Money, WarnsOnceAtAHalfAndOnceAtFourFifths) {
  const auto events = no_events();
  auto options = money_options(0.01);
  const auto warnings = std::make_shared<Warnings>();
  options.observer = warnings;
  std::stop_source stop;
  {
    Engine engine = open_engine(options, events, blocking(score, 1), costs(0.001));
    ASSERT_TRUE(engine.run(
        [&](const Commit&) {
          if (!warnings->messages.empty()) stop.request_stop();
        },
        stop.get_token()));
  }
  ASSERT_TRUE(open_engine(options, events, blocking(score, 1), costs(0.001)).run());
  EXPECT_THAT(warnings->messages,
              ElementsAre(HasSubstr("0.005 of 0.01 USD"), HasSubstr("0.008 of 0.01 USD")));
  options.budgets.usd = 0.02;
  const auto outcome = open_engine(options, events, blocking(score, 1), costs(0.001)).run();
  EXPECT_NEAR(outcome->spending.usd(), 0.02, 1e-12) << "a resumed run goes on from what was spent";
  ASSERT_EQ(warnings->messages.size(), 3U) << "half of the larger budget was passed when it was set";
  EXPECT_THAT(warnings->messages.back(), HasSubstr("0.016 of 0.02 USD"));
}

TEST(Money, AFailedCallCountsAndUsesUpNoIteration) {
  auto options = toy_options(3);
  options.budgets.usd = 1;
  const auto events = no_events();
  int asked = 0;
  const auto proposer =
      std::make_shared<PaidProposer>([&](const ProposalRequest& request) -> Result<Proposal> {
        if (++asked % 2 == 0) return paid(nudge(request), 0.002);
        return Proposal{PaidError(fail(ErrorCode::network, "cut off")), cost_of(0.001, 2), {}};
      });
  Engine engine = open_engine(options, events, blocking(score, 1), proposer);
  const auto outcome = engine.run();
  EXPECT_EQ(outcome->budget, BudgetName::iterations);
  EXPECT_EQ(outcome->counts.iterations, 3U);
  EXPECT_NEAR(outcome->spending.usd(), 3 * 0.003, 1e-12);
  EXPECT_EQ(outcome->spending.total().calls, 9U);
  EXPECT_EQ(spending_in(options, events), outcome->spending);
}

TEST(Money, FailuresAloneEndTheRunToo) {
  auto options = money_options(0.01);
  options.retries = 0;
  options.error_limit = 1000;
  const auto events = no_events();
  const auto proposer = std::make_shared<PaidProposer>([](const ProposalRequest&) {
    return Proposal{PaidError(fail(ErrorCode::network, "cut off")), cost_of(0.002), {}};
  });
  const auto outcome = open_engine(options, events, blocking(score, 1), proposer).run();
  EXPECT_EQ(outcome->budget, BudgetName::money);
  EXPECT_EQ(outcome->counts.iterations, 0U);
  EXPECT_NEAR(outcome->spending.usd(), 0.01, 1e-12);
}

TEST(Money, CallsThatAKilledProcessLeftAreCountedAsUnknown) {
  const auto options = money_options(0.01);
  const auto events = no_events();
  Engine killed = open_engine(options, events);
  ASSERT_TRUE(killed.tell(killed.ask().value()->id, score_of(0)));
  ASSERT_TRUE(killed.ask().value());
  EXPECT_EQ(open_engine(options, events).outcome().spending.interrupted(), 1U);
}

/// Answers on threads of its own. What is asked is the test's business, and so is when it answers.
class ThreadedProposer final : public Proposer {
 public:
  using Serve = std::function<Result<Proposal>(const ProposalRequest&, std::stop_token)>;
  explicit ThreadedProposer(Serve serve) : serve_(std::move(serve)) {}
  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    threads_.emplace_back([this, request = std::move(request), stop = std::move(stop),
                           done = std::move(done)] { done(serve_(request, stop)); });
  }

 private:
  Serve serve_;
  std::deque<std::jthread> threads_;
};

/// `cancelled` when a stop is asked for, and `late` if none is for long.
Result<Proposal> when_stopped(std::stop_token stop, Result<Proposal> late) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::seconds(60), [] { return false; });
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
  return late;
}

TEST(Money, AFailedAttemptIsInTheJournalWhileItsCallGoesOn) {
  const auto options = money_options(0.01);
  const auto events = no_events();
  const auto proposer = std::make_shared<PaidProposer>([](const ProposalRequest& request) {
    request.lost(cost_of(0.001));
    return paid(nudge(request), 0.002);
  });
  ASSERT_TRUE(open_engine(options, events, blocking(score, 1), proposer).run());
  const auto failed = std::ranges::find_if(
      *events, [](const Event& event) { return std::holds_alternative<CallFailed>(event); });
  ASSERT_NE(failed, events->end());
  EXPECT_TRUE(std::get<CallFailed>(*failed).goes_on);
  const auto killed = prefix(events, static_cast<std::size_t>(failed - events->begin()) + 1);
  const Spending known = open_engine(options, killed).outcome().spending;
  EXPECT_NEAR(known.usd(), 0.001, 1e-12) << "the answer never came";
  EXPECT_EQ(known.interrupted(), 1U) << "the next attempt was under way";
  const Spending all = spending_in(options, events);
  EXPECT_NEAR(all.usd(), 0.009, 1e-12);
  EXPECT_EQ(all.total().calls, 6U);
}

TEST(Money, ACallIsStoppedWhoseNextAttemptTheMoneyDoesNotCover) {
  const auto events = no_events();
  std::atomic<int> asked = 0;
  const auto proposer = std::make_shared<ThreadedProposer>(
      [&](const ProposalRequest& request, const std::stop_token&) -> Result<Proposal> {
        if (asked++ == 0) return paid(nudge(request), 0.004);
        request.lost(cost_of(0.004));
        return when_stopped(request.ending, paid(nudge(request), 0.004));
      });
  Engine engine = open_engine(money_options(0.01), events, blocking(score, 1), proposer);
  const auto outcome = engine.run().value();
  EXPECT_EQ(outcome.budget, BudgetName::money);
  EXPECT_NEAR(outcome.spending.usd(), 0.008, 1e-12);
  EXPECT_EQ(outcome.counts.given_back, 1U);
  EXPECT_TRUE(engine.done());
}

TEST(Money, AFailedCallIsTriedAgainOnlyWhereTheMoneyCoversIt) {
  const auto events = no_events();
  const auto proposer = std::make_shared<PaidProposer>([](const ProposalRequest&) {
    return Proposal{PaidError(fail(ErrorCode::network, "cut off")), cost_of(0.004), {}};
  });
  const auto outcome = open_engine(money_options(0.01), events, blocking(score, 1), proposer).run().value();
  EXPECT_EQ(outcome.budget, BudgetName::money);
  EXPECT_NEAR(outcome.spending.usd(), 0.008, 1e-12);
}

TEST(Money, WhatAnOrderlyEndBrokeOffWasNotUnderWayInAKilledProcess) {
  auto options = toy_options(10);
  options.error_limit = 1;
  options.retries = 0;
  options.proposals_in_flight = 2;
  const auto events = no_events();
  std::promise<void> both;
  std::atomic<int> asked = 0;
  const auto proposer = std::make_shared<ThreadedProposer>(
      [&](const ProposalRequest&, std::stop_token stop) -> Result<Proposal> {
        const Error error = fail(ErrorCode::network, "gone");
        if (asked++ == 0) {
          both.get_future().wait();
          return error;
        }
        both.set_value();
        return when_stopped(std::move(stop), error);
      });
  ASSERT_EQ(open_engine(options, events, blocking(score, 1), proposer).run()->reason, EndReason::errors);
  ASSERT_EQ(asked, 2);
  EXPECT_EQ(open_engine(options, events).outcome().spending.interrupted(), 0U);
}

TEST(Money, KindsOfCallsAreToldApartSoThatTheLimitIsPassedByOneCallAtTheMost) {
  constexpr double kEdit = 0.0071, kRewrite = 0.02;
  const auto proposer = std::make_shared<PaidProposer>([](const ProposalRequest& request) {
    return paid(nudge(request), request.op == Operator::edit ? kEdit : kRewrite);
  });
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto options = money_options(0.03);
    options.seed = seed;
    options.proposals_in_flight = 4;
    options.operators = weighted({{{Operator::edit, ""}, 1}, {{Operator::rewrite, ""}, 1}});
    const auto outcome = open_engine(options, no_events(), blocking(score, 2), proposer).run().value();
    EXPECT_LT(outcome.spending.usd(), 0.03 + kRewrite - kEdit) << seed;
  }
}

TEST(Money, WhatASessionLeftOpenIsAskedAgainOnlyWhereTheMoneyCoversIt) {
  auto options = money_options(0.01);
  options.proposals_in_flight = 1;
  const auto events = no_events();
  int asked = 0;
  EndReason reason = EndReason::unfinished;
  for (int session = 0; session < 5; ++session) {
    std::stop_source stop;
    const auto proposer = std::make_shared<PaidProposer>([&](const ProposalRequest& request) {
      if (asked++ == 0) return paid(nudge(request), 0.003);
      stop.request_stop();
      return Proposal{PaidError(fail(ErrorCode::cancelled, "stopped")), cost_of(0.003), {}};
    });
    reason = open_engine(options, events, blocking(score, 1), proposer).run({}, stop.get_token())->reason;
  }
  EXPECT_EQ(reason, EndReason::budget);
  EXPECT_LE(spending_in(options, events).usd(), 0.01);
  EXPECT_GT(asked, 1);
}

TEST(Money, TheTimeOfFailedAndInterruptedCallsIsUsed) {
  double now = 0;
  auto options = money_options(1);
  options.clock_s = [&] { return now; };
  const auto events = no_events();
  std::stop_source stop;
  const auto proposer =
      std::make_shared<PaidProposer>([&](const ProposalRequest& request) -> Result<Proposal> {
        request.lost(cost_of(0.001));
        now = 8;
        stop.request_stop();
        return fail(ErrorCode::cancelled, "stopped");
      });
  ASSERT_TRUE(open_engine(options, events, blocking(score, 1), proposer).run({}, stop.get_token()));
  EXPECT_EQ(replay(MemoryJournal(events), options)->elapsed_s(), 8)
      << "a budget of time is not passed by resuming";
}

TEST(Money, WhenTheTimeIsUpNothingIsTriedAgainAndNobodyUnpaidIsWaitedFor) {
  for (const bool give_up : {true, false}) {
    auto options = toy_options(1000);
    options.give_up_at_time = [=](const std::string&) { return give_up; };
    const auto proposer = std::make_shared<ThreadedProposer>(
        [&](const ProposalRequest& request, std::stop_token stop) -> Result<Proposal> {
          if (give_up) return when_stopped(std::move(stop), fail(ErrorCode::internal, "waited for"));
          return when_stopped(request.ending, fail(ErrorCode::internal, "waited for"));
        });
    const auto outcome = in_time(
        [&](double wall_s) {
          options.budgets = {.iterations = {}, .evaluations = {}, .wall_s = wall_s, .usd = {}};
          return open_engine(options, no_events(), blocking(score, 1), proposer).run();
        },
        [](const Counts& counts) { return counts.given_back > 0; });
    EXPECT_EQ(outcome.budget, BudgetName::wall_time);
    EXPECT_GT(outcome.counts.given_back, 0u);
  }
}

TEST(Money, TheFirstCallOfAKindIsTakenToCostTheMostThatItCan) {
  auto options = money_options(0.01);
  options.forecast_usd = [](const ProposalRequest& request) -> std::optional<double> {
    EXPECT_TRUE(request.selection.parent);
    return 0.02;
  };
  const auto outcome = open_engine(options, no_events(), blocking(score, 1), costs(0.02)).run().value();
  EXPECT_EQ(outcome.budget, BudgetName::money);
  EXPECT_EQ(outcome.spending.usd(), 0);
  EXPECT_EQ(outcome.next_usd, 0.02);

  options.forecast_usd = [](const ProposalRequest& request) {
    return std::optional(request.op == Operator::edit ? 0.001 : 0.008);
  };
  options.operators = weighted({{{Operator::edit, ""}, 1}, {{Operator::rewrite, ""}, 1}});
  const auto proposer = std::make_shared<PaidProposer>([](const ProposalRequest& request) {
    return paid(nudge(request), request.op == Operator::edit ? 0.001 : 0.008);
  });
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    options.seed = seed;
    options.proposals_in_flight = 4;
    const auto mixed = open_engine(options, no_events(), blocking(score, 2), proposer).run().value();
    EXPECT_LE(mixed.spending.usd(), 0.01 + 1e-9) << seed;
    EXPECT_GT(mixed.spending.usd(), 0) << seed;
  }
}

TEST(Money, OneCallPassesTwoMarksWithOneWarning) {
  for (const auto& [usd, says] :
       {std::pair{0.0095, "0.0095 of 0.01 USD (95 %)"}, std::pair{0.02, "(200 %): more than the limit"}}) {
    auto options = money_options(0.01);
    const auto warnings = std::make_shared<Warnings>();
    options.observer = warnings;
    ASSERT_TRUE(open_engine(options, no_events(), blocking(score, 1), costs(usd)).run());
    EXPECT_THAT(warnings->messages, ElementsAre(HasSubstr(says)));
  }
}

TEST(Money, TheTunersChildrenCostNothing) {
  auto options = toy_options(20);
  options.budgets.usd = 0.001;
  options.operators = weighted({{{Operator::tune, ""}, 1}});
  Engine engine = open_engine(options, no_events(), blocking(score, 2), blocking(nudge, 2));
  EXPECT_EQ(engine.run()->counts.iterations, 20U);
}

TEST(Money, ADeterministicRunEndsAlikeWithAnyNumberOfWorkers) {
  std::string texts[2];
  for (const unsigned workers : {1U, 4U}) {
    auto options = money_options(0.05);
    options.deterministic = true;
    options.evaluations_in_flight = options.proposals_in_flight = workers;
    Engine engine = open_engine(options, no_events(), blocking(score, workers), costs(0.0015));
    EXPECT_EQ(engine.run()->budget, BudgetName::money);
    texts[workers == 1 ? 0 : 1] = text_of(engine);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(Money, ARecordingThatGivesMoneyBackIsNotBelieved) {
  Spending spending;
  spending.add(cost_of(-5));
  spending.add(cost_of(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(spending.usd(), 0);
  spending.add({});
  EXPECT_EQ(spending.total().calls, 2U);
}

TEST(Money, ABudgetIsAPositiveNumber) {
  for (const double usd : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    const auto engine = Engine::create(std::make_unique<MemoryJournal>(no_events()), money_options(usd));
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().where, "budgets.usd");
  }
}

}  // namespace
}  // namespace kernelsmith
