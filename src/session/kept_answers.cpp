#include "kept_answers.hpp"

#include <string>
#include <utility>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/core/blocking.hpp>

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
                       // If it cannot be kept, the journal is tried all the same, and says why.
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

}  // namespace

Result<Proposal> as_answer(const ProposalRequest& request, Proposal kept) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::corrupt, "an answer that was kept does not fit: " + why,
                "ticket " + std::to_string(request.ticket.value),
                "it is asked for again, if the budgets allow it");
  };
  if (!request.model.empty() && !kept.cost.model.empty() && kept.cost.model != request.model)
    return refuse("it is of the model \"" + kept.cost.model + "\", and \"" + request.model + "\" was asked");
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

}  // namespace kernelsmith
