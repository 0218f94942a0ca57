#include <atomic>
#include <cmath>
#include <future>
#include <limits>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/core/blocking.hpp>

namespace kernelsmith {
namespace {

EvaluationJob job(std::uint64_t candidate = 1) {
  EvaluationJob result;
  result.candidate = {candidate};
  return result;
}

Result<Evaluation> ask(Evaluator& evaluator, std::stop_token stop = {}) {
  return answer_of<Evaluation>([&](auto done) { evaluator.start(job(), std::move(stop), std::move(done)); })
      .get();
}

Result<Proposal> ask(Proposer& proposer, ProposalRequest request) {
  return answer_of<Proposal>([&](auto done) { proposer.start(std::move(request), {}, std::move(done)); })
      .get();
}

TEST(Blocking, ANumberIsAnExactFitness) {
  const auto evaluation = ask(*blocking([](const EvaluationJob&) { return 2.5; }));
  ASSERT_TRUE(evaluation);
  ASSERT_TRUE(evaluation->accepted());
  EXPECT_EQ(evaluation->metrics()->fitness(), Measurement::exact(2.5));
}

TEST(Blocking, ANumberThatIsNotFiniteIsARejection) {
  const auto evaluation =
      ask(*blocking([](const EvaluationJob&) { return std::numeric_limits<double>::quiet_NaN(); }));
  ASSERT_TRUE(evaluation);
  ASSERT_FALSE(evaluation->accepted());
  EXPECT_EQ(evaluation->rejection()->code, RejectionCode::bad_metrics);
}

TEST(Blocking, AnExceptionIsAnError) {
  const auto evaluation =
      ask(*blocking([](const EvaluationJob&) -> double { throw std::runtime_error("no device"); }));
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error().code, ErrorCode::tool_failed);
  EXPECT_NE(evaluation.error().message.find("no device"), std::string::npos);
}

TEST(Blocking, AnErrorExceptionKeepsItsError) {
  const auto evaluation = ask(*blocking(
      [](const EvaluationJob&) -> double { throw ErrorException(fail(ErrorCode::disk_full, "no space")); }));
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error(), fail(ErrorCode::disk_full, "no space"));
}

TEST(Blocking, AJobStoppedBeforeItIsBegunIsCancelled) {
  std::atomic<int> calls = 0;
  const auto evaluator = blocking([&](const EvaluationJob&) { return double(++calls); });
  std::stop_source stop;
  stop.request_stop();
  const auto evaluation = ask(*evaluator, stop.get_token());
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error().code, ErrorCode::cancelled);
  EXPECT_EQ(calls, 0);
}

TEST(Blocking, ASourceIsTheChildOfTheRequestsParent) {
  const auto source = Source::create({{"a.txt", "1"}}).value();
  auto program = std::make_shared<Program>(Program{{7}, source, {}, Origin::seed});
  auto metrics = Metrics::create(Measurement::exact(1)).value();
  ProposalRequest request;
  request.op = Operator::tune;
  request.selection.parent =
      std::make_shared<Individual>(Individual{std::move(program), Acceptance{std::move(metrics), {}}});
  const auto proposal = ask(*blocking([&](const ProposalRequest&) { return source; }), request);
  ASSERT_TRUE(proposal);
  ASSERT_TRUE(proposal->child());
  EXPECT_EQ(*proposal->child(), (Child{source, Origin::tune, {ProgramId{7}}}));
}

TEST(Blocking, TheDestructorWaitsAndEveryJobIsAnsweredOnce) {
  constexpr int kJobs = 200;
  std::atomic<int> answers = 0;
  std::vector<std::atomic<int>> by_job(kJobs);
  {
    const auto evaluator = blocking([](const EvaluationJob& one) { return double(one.candidate.value); }, 4);
    for (int i = 0; i < kJobs; ++i) {
      evaluator->start(job(std::uint64_t(i)), {}, [&, i](Result<Evaluation> result) {
        EXPECT_EQ(result->metrics()->fitness().median, i);
        ++by_job[std::size_t(i)];
        ++answers;
      });
    }
  }
  EXPECT_EQ(answers, kJobs);
  for (const auto& count : by_job) EXPECT_EQ(count, 1);
}

TEST(Blocking, AsManyWorkersAsAskedForRunAtOnce) {
  std::promise<void> both;
  std::atomic<int> inside = 0;
  const auto gate = both.get_future().share();
  std::atomic<int> answers = 0;
  {
    const auto evaluator = blocking(
        [&](const EvaluationJob&) {
          if (++inside == 2) both.set_value();
          gate.wait();
          return 1.0;
        },
        2);
    for (int i = 0; i < 2; ++i) evaluator->start(job(), {}, [&](const Result<Evaluation>&) { ++answers; });
  }
  EXPECT_EQ(answers, 2);
}

}  // namespace
}  // namespace kernelsmith
