#include <algorithm>
#include <cmath>
#include <exception>
#include <string>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <kernelsmith/core/blocking.hpp>

namespace kernelsmith {
namespace {

template <class Answer, class Request>
Result<Answer> call(const std::function<Result<Answer>(const Request&)>& function, const Request& request) {
  try {
    return function(request);
  } catch (const ErrorException& error) {
    return error.error();
  } catch (const std::exception& exception) {
    return fail(ErrorCode::tool_failed, std::string("the function threw: ") + exception.what());
  } catch (...) {
    return fail(ErrorCode::tool_failed, "the function threw something that is not a std::exception");
  }
}

bool is_over(const EvaluationJob&) { return false; }
bool is_over(const ProposalRequest& request) { return request.ending.stop_requested(); }

/// Evaluator and Proposer have the same contract. `Seam` is one of them.
template <class Seam, class Request, class Answer>
class Blocking final : public Seam {
 public:
  using Function = std::function<Result<Answer>(const Request&)>;

  Blocking(Function function, unsigned workers)
      : function_(std::move(function)), pool_(std::max(workers, 1U)) {}
  ~Blocking() override { pool_.join(); }
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;

  void start(Request request, std::stop_token stop, Sink<Answer> done) override {
    boost::asio::post(pool_,
                      [this, request = std::move(request), stop = std::move(stop), done = std::move(done)] {
                        if (stop.stop_requested() || is_over(request))
                          return done(fail(ErrorCode::cancelled, "stopped before it was begun"));
                        done(call(function_, request));
                      });
  }

 private:
  Function function_;
  boost::asio::thread_pool pool_;
};

Origin origin_of(Operator op) {
  switch (op) {
    case Operator::translate:
      return Origin::translate;
    case Operator::edit:
      return Origin::edit;
    case Operator::rewrite:
      return Origin::rewrite;
    case Operator::crossover:
      return Origin::crossover;
    case Operator::repair:
      return Origin::repair;
    case Operator::tune:
      return Origin::tune;
  }
  return Origin::rewrite;
}

}  // namespace

std::shared_ptr<Evaluator> blocking_evaluator(EvaluationFunction evaluate, unsigned workers) {
  return std::make_shared<Blocking<Evaluator, EvaluationJob, Evaluation>>(std::move(evaluate), workers);
}

std::shared_ptr<Proposer> blocking_proposer(ProposalFunction propose, unsigned workers) {
  return std::make_shared<Blocking<Proposer, ProposalRequest, Proposal>>(std::move(propose), workers);
}

Result<Evaluation> as_evaluation(double fitness) {
  if (!std::isfinite(fitness)) {
    return Evaluation(
        Rejection{Stage::run, RejectionCode::bad_metrics, "the score is not a finite number", {}});
  }
  return as_evaluation(Metrics::create(Measurement::exact(fitness)).value());
}

Result<Proposal> as_proposal(const ProposalRequest& request, Source source) {
  Child child{std::move(source), origin_of(request.op), {}};
  if (request.selection.parent) child.parents.push_back(request.selection.parent->program->id);
  return Proposal{std::move(child), {}, {}};
}

}  // namespace kernelsmith
