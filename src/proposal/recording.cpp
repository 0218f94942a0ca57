#include <string>
#include <utility>

#include <kernelsmith/proposal/recording.hpp>

namespace kernelsmith {
namespace {

class Recording final : public Proposer {
 public:
  Recording(std::map<TicketId, Proposal> recorded, std::shared_ptr<Proposer> live)
      : recorded_(std::move(recorded)), live_(std::move(live)) {}

  void start(ProposalRequest request, std::stop_token stop, Sink<Proposal> done) override {
    const auto it = recorded_.find(request.ticket);
    if (it != recorded_.end()) return done(it->second);
    if (live_) return live_->start(std::move(request), std::move(stop), std::move(done));
    done(fail(ErrorCode::not_found,
              "the recording holds no answer to ticket " + std::to_string(request.ticket.value), {},
              "replay it with the run's own configuration, and no further than the run went"));
  }

 private:
  const std::map<TicketId, Proposal> recorded_;
  const std::shared_ptr<Proposer> live_;
};

}  // namespace

std::unique_ptr<Proposer> make_recording(std::map<TicketId, Proposal> recorded,
                                         std::shared_ptr<Proposer> live) {
  return std::make_unique<Recording>(std::move(recorded), std::move(live));
}

}  // namespace kernelsmith
