#include <string>
#include <utility>

#include <kernelsmith/proposal/replay.hpp>

namespace kernelsmith {
namespace {

class Replay final : public Proposer {
 public:
  explicit Replay(std::map<TicketId, Proposal> recorded) : recorded_(std::move(recorded)) {}

  void start(ProposalRequest request, std::stop_token, Sink<Proposal> done) override {
    const auto it = recorded_.find(request.ticket);
    if (it != recorded_.end()) return done(it->second);
    done(fail(ErrorCode::not_found,
              "the recording holds no answer to ticket " + std::to_string(request.ticket.value), {},
              "replay it with the run's own configuration, and no further than the run went"));
  }

 private:
  const std::map<TicketId, Proposal> recorded_;
};

}  // namespace

std::unique_ptr<Proposer> make_replay(std::map<TicketId, Proposal> recorded) {
  return std::make_unique<Replay>(std::move(recorded));
}

}  // namespace kernelsmith
