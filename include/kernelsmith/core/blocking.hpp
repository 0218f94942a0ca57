// blocking(f): makes an Evaluator or a Proposer from a plain function.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/proposer.hpp>

namespace kernelsmith {

using EvaluationFunction = std::function<Result<Evaluation>(const EvaluationJob&)>;
using ProposalFunction = std::function<Result<Proposal>(const ProposalRequest&)>;

/// An Evaluator that calls `evaluate` on `workers` threads of its own. If the function throws, the answer is
/// an Error: that of an ErrorException, else `tool_failed`. On a stop request a waiting job is answered
/// `cancelled`; a running job is not interrupted.
std::shared_ptr<Evaluator> blocking_evaluator(EvaluationFunction evaluate, unsigned workers = 1);

/// Makes a Proposer in the same way. A waiting request is also answered `cancelled` when its `ending` is
/// requested.
std::shared_ptr<Proposer> blocking_proposer(ProposalFunction propose, unsigned workers = 1);

/// Turns a score function's result into an evaluation. A finite number becomes an exact fitness; any other
/// number becomes a rejection.
Result<Evaluation> as_evaluation(double fitness);
inline Result<Evaluation> as_evaluation(Metrics metrics) {
  return Evaluation(Acceptance{std::move(metrics), {}});
}
inline Result<Evaluation> as_evaluation(Evaluation evaluation) { return evaluation; }
inline Result<Evaluation> as_evaluation(Rejection rejection) { return Evaluation(std::move(rejection)); }
inline Result<Evaluation> as_evaluation(Result<Evaluation> evaluation) { return evaluation; }

/// Turns the source that a proposing function returned into a proposal: a child of the request's parent.
Result<Proposal> as_proposal(const ProposalRequest& request, Source source);
inline Result<Proposal> as_proposal(const ProposalRequest&, Child child) {
  return Proposal{std::move(child), {}, {}};
}
inline Result<Proposal> as_proposal(const ProposalRequest&, Refusal why) {
  return Proposal{std::move(why), {}, {}};
}
inline Result<Proposal> as_proposal(const ProposalRequest&, Proposal proposal) { return proposal; }
inline Result<Proposal> as_proposal(const ProposalRequest&, Result<Proposal> proposal) { return proposal; }

/// Makes an Evaluator from a function that takes an EvaluationJob and returns a number, Metrics, a Rejection,
/// an Evaluation or a Result<Evaluation>. With more than one worker, several threads call the function at
/// once. Example: `blocking([](const EvaluationJob& job) { return score(job.source); })`.
template <std::invocable<const EvaluationJob&> F>
std::shared_ptr<Evaluator> blocking(F score, unsigned workers = 1) {
  return blocking_evaluator(
      [score = std::move(score)](const EvaluationJob& job) mutable {
        return as_evaluation(std::invoke(score, job));
      },
      workers);
}

/// Makes a Proposer from a function that takes a ProposalRequest and returns a Source, a Child, a Refusal, a
/// Proposal or a Result<Proposal>.
template <std::invocable<const ProposalRequest&> F>
std::shared_ptr<Proposer> blocking(F propose, unsigned workers = 1) {
  return blocking_proposer(
      [propose = std::move(propose)](const ProposalRequest& request) mutable {
        return as_proposal(request, std::invoke(propose, request));
      },
      workers);
}

}  // namespace kernelsmith
