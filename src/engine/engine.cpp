#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/engine/search_state.hpp>

#include "committer.hpp"
#include "driver.hpp"
#include "follower.hpp"

namespace kernelsmith {

Engine::Engine(std::unique_ptr<Committer> committer, std::shared_ptr<Evaluator> evaluator,
               std::shared_ptr<Proposer> proposer)
    : committer_(std::move(committer)), evaluator_(std::move(evaluator)), proposer_(std::move(proposer)) {}

Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Engine> Engine::create(std::unique_ptr<Journal> journal, EngineOptions options,
                              std::shared_ptr<Evaluator> evaluator, std::shared_ptr<Proposer> proposer) {
  auto committer = Committer::begin(std::move(journal), std::move(options));
  if (!committer) return committer.error();
  return Engine(std::move(*committer), std::move(evaluator), std::move(proposer));
}

Result<std::optional<Ticket>> Engine::ask() { return committer_->ask(); }

Result<Engine::Commits> Engine::tell(TicketId ticket, Child child, Evaluation evaluation) {
  return committer_->tell(ticket, std::move(child), std::move(evaluation));
}

Result<Engine::Commits> Engine::tell(TicketId ticket, Source source, Evaluation evaluation) {
  Child child{std::move(source), Origin::user, {}};
  inspect([&](const SearchState& state) {
    const auto open = state.open().find(ticket);
    if (open == state.open().end() || !open->second.selection.parent) return;
    child.parents.push_back(open->second.selection.parent->program->id);
  });
  return tell(ticket, std::move(child), std::move(evaluation));
}

Result<Engine::Commits> Engine::tell(TicketId ticket, Refusal refusal) {
  return committer_->propose(ticket, {std::move(refusal), {}, {}});
}

Result<Engine::Commits> Engine::tell(TicketId ticket, Evaluation evaluation) {
  return committer_->evaluate(ticket, std::move(evaluation));
}

Result<Engine::Commits> Engine::propose(TicketId ticket, Proposal answer) {
  if (answer.error())
    return fail(ErrorCode::invalid_argument, "an error is not an answer", "propose", "give the ticket back");
  return committer_->propose(ticket, std::move(answer));
}

Result<Engine::Commits> Engine::give_back(TicketId ticket, Error error) {
  return committer_->give_back(ticket, std::move(error));
}

bool Engine::done() const { return committer_->outcome().reason != EndReason::unfinished; }

Result<Outcome> Engine::run(const CommitCallback& on_commit, std::stop_token stop) {
  if (!evaluator_ || !proposer_) {
    return fail(ErrorCode::invalid_argument, "this engine was opened without an evaluator and a proposer",
                "run", "pass both to open(), or ask and tell by hand");
  }
  return Driver(*committer_, *evaluator_, *proposer_, on_commit, std::move(stop)).run();
}

Result<Followed> Engine::follow(const Journal& recording, RecordedEvaluations evaluations,
                                const CommitCallback& on_commit, std::stop_token stop) {
  const bool measure = evaluations == RecordedEvaluations::measured;
  if (measure && !evaluator_)
    return fail(ErrorCode::invalid_argument, "this engine was opened without an evaluator", "follow",
                "pass one to open(), or keep the recorded evaluations");
  return Follower(*committer_, measure ? evaluator_.get() : nullptr, on_commit, std::move(stop))
      .run(recording);
}

Status Engine::renew(const Budgets& budgets) { return committer_->renew(budgets); }

Outcome Engine::outcome() const { return committer_->outcome(); }

void Engine::inspect(const std::function<void(const SearchState&)>& look) const { committer_->inspect(look); }

}  // namespace kernelsmith
