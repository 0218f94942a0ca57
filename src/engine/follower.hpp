// The follower of follow(): takes the events of a recording one after another. It measures evaluations again
// unless they are to be kept. Used only by the thread that called follow().
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/engine/follow.hpp>

#include "committer.hpp"

namespace kernelsmith {

class Follower {
 public:
  /// Without an evaluator, the recorded evaluations are kept.
  Follower(Committer& committer, Evaluator* evaluator, const std::function<void(const Commit&)>& on_commit,
           std::stop_token stop);
  /// Stops the measurements under way.
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  Result<Followed> run(const Journal& recording);

 private:
  using Arrived = std::pair<TicketId, Result<Evaluation>>;

  Status take(const Event& recorded);
  void part(const Event& recorded);
  Status repeat(const Event& recorded, std::optional<Evaluation> measured);

  // Measuring.
  void enqueue(TicketId ticket);
  void enqueue_open();
  void start_what_may();
  void start(TicketId ticket);
  void forget(TicketId ticket);
  Result<Evaluation> measured(TicketId ticket);
  void collect();
  Status retry(TicketId ticket, const Error& error);

  Committer& committer_;
  Evaluator* evaluator_;
  const std::function<void(const Commit&)>& on_commit_;
  std::stop_token stop_;
  /// Shared with the sinks.
  std::shared_ptr<Mailbox<Arrived>> answers_ = std::make_shared<Mailbox<Arrived>>();
  std::deque<TicketId> waiting_;
  std::map<TicketId, std::stop_source> flights_;
  std::map<TicketId, Result<Evaluation>> done_;
  std::map<TicketId, unsigned> failures_;
  Followed followed_;
};

}  // namespace kernelsmith
