// The driver of run(): asks and tells through the committer, keeps proposals and evaluations in flight, and
// retries after Errors. Used only by the thread that called run().
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <variant>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/core/waiting.hpp>

#include "committer.hpp"
#include "error_streak.hpp"

namespace kernelsmith {

/// A failed attempt whose call may continue.
struct LostAttempt {
  TicketId ticket;
  Cost cost;
};

/// A trial that a proposer requests before it answers.
struct AskedTrial {
  Trial trial;
  std::function<void(Result<Tried>)> done;
};

/// A message about one request, which its number identifies: the answer, or news before it.
struct Delivery {
  std::uint64_t request = 0;
  std::variant<Result<Proposal>, Result<Evaluation>, LostAttempt, AskedTrial> content;
};

class Driver {
 public:
  Driver(Committer& committer, Evaluator& evaluator, Proposer& proposer,
         const std::function<void(const Commit&)>& on_commit, std::stop_token stop);
  /// Puts unanswered tickets back for the next run().
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  Result<Outcome> run();

 private:
  enum class Role { propose, evaluate };

  /// A ticket that waits to be started.
  struct Task {
    Role role;
    Ticket ticket;
    unsigned failures = 0;  ///< Errors so far
    Moment not_before{};
  };

  /// A request that an evaluator or a proposer works on.
  struct Flight {
    Task task;
    std::stop_source stop;
    std::stop_source ending;  ///< ProposalRequest::ending
    std::optional<Moment> deadline;
  };

  // The phases of the loop.
  Status begin_work();
  bool idle() const;
  void land(Delivery delivery);
  void land_late();
  void stop_flights();

  void start_proposal(Task task);
  void start_evaluation(Task task);
  std::pair<std::uint64_t, std::stop_token> take_off(Task task);
  void count(LostAttempt lost);
  void begin_trial(std::uint64_t request, AskedTrial asked);
  void end_trial(const Commit& commit);
  void cancel_trials();
  void accept(const Flight& flight, Result<Proposal> answer);
  void accept(const Flight& flight, Result<Evaluation> answer);
  void retry_or_give_up(Task task, Error error);
  void give_up_late(const Task& task, const Error* met = nullptr);
  void give_up_unaffordable(TicketId ticket);
  void note_reply(const std::string& model, const std::optional<Refusal>& refusal);
  void watch_money();
  void watch_time();
  void end_what_is_late();
  bool is_waited_for(const Task& task) const;
  bool is_needed(const Task& task) const;
  void tell(Result<Committer::Commits> commits);
  void end(Error error);

  std::optional<Task> next_task(std::deque<Task>& tasks);
  std::size_t flying(Role role) const;
  std::optional<Moment> next_moment() const;
  bool stopping() const { return stop_.stop_requested() || error_ || failure_; }

  Committer& committer_;
  Evaluator& evaluator_;
  Proposer& proposer_;
  const std::function<void(const Commit&)>& on_commit_;
  const EngineOptions& options_;
  std::stop_token stop_;
  /// Shared with the sinks, so that an answer after the end is ignored.
  std::shared_ptr<Mailbox<Delivery>> inbox_ = std::make_shared<Mailbox<Delivery>>();

  std::deque<Task> to_propose_, to_evaluate_;
  std::map<std::uint64_t, Flight> flights_;
  std::map<TicketId, std::function<void(Result<Tried>)>> trials_;  ///< requests that wait for these tickets
  std::uint64_t next_request_ = 0;
  ErrorStreak proposer_errors_, evaluator_errors_;
  std::map<std::string, unsigned> barren_;  ///< replies in a row without a program, by model
  unsigned all_barren_ = 0;                 ///< replies in a row without a program, of all models
  std::optional<Moment> time_up_;           ///< when the budget of wall time will be used up
  bool is_late_ = false;                    ///< the budget of wall time is used up
  std::optional<Error> error_;              ///< set when there were too many Errors in a row
  std::optional<Error> failure_;            ///< why the journal could not be written
};

}  // namespace kernelsmith
