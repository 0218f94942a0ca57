#include <string>
#include <utility>

#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/proposal/recording.hpp>

namespace kernelsmith {
namespace {

class Recording final : public Proposer {
 public:
  Recording(std::map<TicketId, Proposal> recorded, std::shared_ptr<Proposer> live)
      : recorded_(std::move(recorded)), live_(std::move(live)) {}

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    const auto it = recorded_.find(request.ticket);
    if (it != recorded_.end()) return done(as_answer(request, it->second));
    if (live_) return live_->start(std::move(request), std::move(stop), std::move(done));
    done(Proposal{Refusal{RefusalCode::exhausted,
                          "the recording holds no answer to ticket " + std::to_string(request.ticket.value)},
                  {},
                  {}});
  }

 private:
  /// A search that departs from its recording gives the ticket another parent, and may lack the recorded one.
  static Proposal as_answer(const ProposalRequest& request, Proposal recorded) {
    const Child* child = recorded.child();
    if (!child) return recorded;
    const bool same = request.selection.parent
                          ? child->parents == std::vector{request.selection.parent->program->id}
                          : child->parents.empty();
    if (same) return recorded;
    if (auto anew = as_proposal(request, child->source)) recorded.outcome = std::move(anew->outcome);
    return recorded;
  }

  const std::map<TicketId, Proposal> recorded_;
  const std::shared_ptr<Proposer> live_;
};

}  // namespace

std::unique_ptr<Proposer> make_recording(std::map<TicketId, Proposal> recorded,
                                         std::shared_ptr<Proposer> live) {
  return std::make_unique<Recording>(std::move(recorded), std::move(live));
}

}  // namespace kernelsmith
