// Evaluates given candidates of a task, without a search.
#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <random>
#include <utility>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/evaluator/parse_stage.hpp>
#include <kernelsmith/evaluator/staged_evaluator.hpp>
#include <kernelsmith/session/session.hpp>

#include "wiring.hpp"

namespace kernelsmith {
namespace {

Result<Evaluation> evaluate_now(Evaluator& evaluator, EvaluationJob job, const std::stop_token& stop) {
  return answer_of<Evaluation>([&](auto done) { evaluator.start(std::move(job), stop, std::move(done)); })
      .get();
}

std::future<Result<Evaluation>> known(Result<Evaluation> evaluation) {
  std::promise<Result<Evaluation>> answer;
  answer.set_value(std::move(evaluation));
  return answer.get_future();
}

/// Evaluations in flight: one is measured while the others are compiled or planned.
constexpr std::size_t kAhead = 4;

/// The Error for a candidate that was not evaluated; `why` is the Error of another candidate.
Error not_evaluated(Error why) {
  why.message = "it had no turn, because evaluating another one failed: " + why.message;
  return why;
}

}  // namespace

Result<Evaluation> evaluate_patiently(Evaluator& evaluator, EvaluationJob job, const std::stop_token& stop) {
  constexpr std::uint32_t kAttempts = 4;
  constexpr Seconds kFirstPause{0.5};
  for (;;) {
    auto evaluation = evaluate_now(evaluator, job, stop);
    const bool passes = !evaluation && passes_by_itself(evaluation.error().code);
    if (!passes || ++job.attempt == kAttempts || stop.stop_requested()) return evaluation;
    pause_for(growing_pause(kFirstPause, job.attempt), stop);
  }
}

Status evaluate_all(const Task& task, const RunConfig& config, std::vector<Source> candidates,
                    const std::function<void(std::size_t, const Result<Evaluation>&)>& take,
                    const std::stop_token& stop, bool careful) {
  // Made for the first readable candidate, not earlier, because making it takes seconds.
  std::optional<Result<std::shared_ptr<Evaluator>>> evaluator;
  EvaluationJob job;
  // A fleet keeps answers by run, so each call uses a new run id.
  job.run = "evaluate-" + std::to_string(std::random_device()()) + std::to_string(std::random_device()());
  job.task = task.digest;
  job.may_edit_frozen = true;  // frozen bytes are a rule of the search
  job.careful = careful;
  std::stop_source all;
  const std::stop_callback outer(stop, [&all] { all.request_stop(); });
  std::deque<std::future<Result<Evaluation>>> ahead;
  Status first;
  std::size_t told = 0;
  const auto tell = [&](const Result<Evaluation>& answer) {
    take(told++, answer);
    if (!answer && first) first = answer.error();
  };
  for (std::size_t started = 0; told < candidates.size();) {
    for (; started < candidates.size() && started - told < kAhead; ++started) {
      job.candidate = ProgramId{started};
      job.source = candidates[started];
      if (auto unread = parse_candidate(task, job, EvaluatorOptions().max_source_bytes)) {
        ahead.push_back(known(std::move(*unread)));
        continue;
      }
      if (!evaluator && !ahead.empty()) break;  // reports known answers first
      if (!evaluator) evaluator.emplace(prepared_evaluator(task, config, stop));
      ahead.push_back(*evaluator ? std::async(std::launch::async, evaluate_patiently, std::ref(***evaluator),
                                              job, all.get_token())
                                 : known(evaluator->error()));
    }
    const auto answer = ahead.front().get();
    ahead.pop_front();
    tell(answer);
    if (answer || answer.error().code == ErrorCode::unsupported) continue;
    all.request_stop();  // stops the evaluations in flight
    while (told < candidates.size()) tell(not_evaluated(answer.error()));
  }
  return first;
}

Result<Evaluation> evaluate_one(const Task& task, const RunConfig& config, const Source& candidate,
                                const std::stop_token& stop, bool careful) {
  std::optional<Result<Evaluation>> told;
  const auto take = [&](std::size_t, const Result<Evaluation>& answer) { told.emplace(answer); };
  (void)evaluate_all(task, config, {candidate}, take, stop, careful);  // `take` got the error too
  return std::move(*told);
}

}  // namespace kernelsmith
