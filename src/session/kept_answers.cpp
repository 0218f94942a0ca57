#include "kept_answers.hpp"

#include <optional>
#include <string>
#include <utility>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/engine/search_state.hpp>

namespace kernelsmith {
namespace {

class Keeping final : public Proposer {
 public:
  Keeping(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Proposer> proposer)
      : spool_(std::move(spool)), proposer_(std::move(proposer)) {}

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    const TicketId ticket = request.ticket;
    if (request.op != Operator::tune)
      if (const Status room = spool_->reserve(); !room) return done(room.error());
    proposer_->start(std::move(request), std::move(stop),
                     [spool = spool_, ticket, done = std::move(done)](Result<Proposal> answer) {
                       // Ignores an error: writing the journal comes next, and reports it.
                       if (answer && answer->prompt && !answer->error()) (void)spool->keep(ticket, *answer);
                       done(std::move(answer));
                     });
  }

 private:
  const std::shared_ptr<ReplySpool> spool_;
  const std::shared_ptr<Proposer> proposer_;
};

class Forgetting final : public Observer {
 public:
  Forgetting(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Observer> observer)
      : spool_(std::move(spool)), observer_(std::move(observer)) {}

  void on_event(const Event& event) override {
    if (const auto* arrived = std::get_if<ProposalArrived>(&event)) spool_->forget(arrived->ticket);
    if (const auto* closed = std::get_if<TicketClosed>(&event)) spool_->forget(closed->ticket);
    if (observer_) observer_->on_event(event);
  }
  void on_notice(const Notice& notice) override {
    if (observer_) observer_->on_notice(notice);
  }

 private:
  const std::shared_ptr<ReplySpool> spool_;
  const std::shared_ptr<Observer> observer_;
};

/// The request of an open ticket that still waits for its answer; empty if it does not.
std::optional<ProposalRequest> request_of(const Engine& engine, TicketId ticket, std::uint64_t seed) {
  std::optional<ProposalRequest> request;
  engine.inspect([&](const SearchState& state) {
    const auto open = state.open().find(ticket);
    if (open == state.open().end() || open->second.proposal || !open->second.opened.op) return;
    const TicketOpened& opened = open->second.opened;
    request = ProposalRequest{seed, ticket, *opened.op, opened.model, open->second.selection};
  });
  return request;
}

void warn_of_another_prompt(TicketId ticket, const Digest& kept, const Digest& planned, Observer& observer) {
  observer.on_notice({Notice::Level::warning,
                      "the answer kept for ticket " + std::to_string(ticket.value) +
                          " answers another prompt (" + kept.hex().substr(0, 12) +
                          ") than this session would send (" + planned.hex().substr(0, 12) +
                          "): prompts or models were changed, or the file is from another run. The answer is "
                          "used, because it was paid for"});
}

}  // namespace

Result<Proposal> as_answer(const ProposalRequest& request, Proposal kept) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::corrupt, "a kept answer does not fit: " + why,
                "ticket " + std::to_string(request.ticket.value),
                "it is requested again, if the budgets allow it");
  };
  if (!request.model.empty() && !kept.cost.model.empty() && kept.cost.model != request.model)
    return refuse("it is from the model \"" + kept.cost.model + "\", but \"" + request.model +
                  "\" was asked");
  const Child* child = kept.child();
  if (!child) return kept;
  if (child->source.empty()) return refuse("its child has no file");
  if (request.selection.parent)
    if (const Status fits = check_frozen(request.selection.parent->program->source, child->source); !fits)
      return refuse(describe(fits.error()));
  auto answer = as_proposal(request, child->source);
  if (answer) kept.outcome = std::move(answer->outcome);
  return kept;
}

std::shared_ptr<Proposer> keeping(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Proposer> proposer) {
  return std::make_shared<Keeping>(std::move(spool), std::move(proposer));
}

std::shared_ptr<Observer> forgetting(std::shared_ptr<ReplySpool> spool, std::shared_ptr<Observer> observer) {
  return std::make_shared<Forgetting>(std::move(spool), std::move(observer));
}

Status take_up(Engine& engine, ReplySpool& spool, const CallPlanner& planner, std::uint64_t seed,
               Observer* observer) {
  for (const TicketId ticket : spool.tickets()) {
    const auto request = request_of(engine, ticket, seed);
    auto left = spool.take(ticket);
    // If the ticket is no longer open, its answer is in the journal: the process was killed before it removed
    // the file.
    if (!request || !left) {
      spool.forget(ticket);
      continue;
    }
    auto answer = as_answer(*request, std::move(*left));
    if (!answer) {
      spool.forget(ticket);
      if (observer) observer->on_notice({Notice::Level::warning, describe(answer.error())});
      continue;
    }
    const auto planned = planner ? planner(*request) : std::nullopt;
    if (planned && answer->prompt && *answer->prompt != planned->prompt && observer)
      warn_of_another_prompt(ticket, *answer->prompt, planned->prompt, *observer);
    if (auto taken = engine.propose(ticket, std::move(*answer)); !taken) return taken.error();
  }
  return {};
}

}  // namespace kernelsmith
