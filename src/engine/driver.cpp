#include "driver.hpp"

#include <algorithm>
#include <utility>

#include <kernelsmith/core/brief.hpp>
#include <kernelsmith/core/waiting.hpp>

namespace kernelsmith {
namespace {

using std::chrono::steady_clock;

/// The user is warned after this many replies in a row without a program. A model that gives a program in
/// every tenth reply reaches this number with a probability of one in eight ...
constexpr unsigned kTellOfBarren = 20;
/// ... and the run ends after this many, which such a model reaches with a probability of one in 500. By then
/// three times as much was paid as at the warning.
constexpr unsigned kMostBarren = 60;

Error trial_cancelled() { return fail(ErrorCode::cancelled, "the run ended before it was evaluated"); }

bool is_seed(const Ticket& ticket) {
  const auto* evaluate = std::get_if<Evaluate>(&ticket.work);
  return evaluate && evaluate->child.origin == Origin::seed;
}

/// Whether the prompt causes the error. Repeating the request would then give the same error and may cost
/// again, but another request may succeed.
bool is_the_prompts(ErrorCode code) {
  return ErrorStreak::is_lasting(code) || code == ErrorCode::bad_reply || code == ErrorCode::too_long;
}

/// Whether the ticket leads to a call. The tuner makes none: it answers at once.
bool is_call(const Ticket& ticket) {
  const auto* propose = std::get_if<Propose>(&ticket.work);
  return propose && propose->op != Operator::tune;
}

}  // namespace

Driver::Driver(Committer& committer, Evaluator& evaluator, Proposer& proposer,
               const std::function<void(const Commit&)>& on_commit, std::stop_token stop)
    : committer_(committer),
      evaluator_(evaluator),
      proposer_(proposer),
      on_commit_(on_commit),
      options_(committer.options()),
      stop_(std::move(stop)),
      proposer_errors_(options_.error_limit),
      evaluator_errors_(options_.error_limit) {}

Driver::~Driver() {
  stop_flights();
  for (const Delivery& left : inbox_->close())
    if (const auto* asked = std::get_if<AskedTrial>(&left.content)) asked->done(trial_cancelled());
  cancel_trials();
  for (const auto& task : to_propose_) committer_.put_back(task.ticket.id);
  for (const auto& task : to_evaluate_) committer_.put_back(task.ticket.id);
  for (const auto& [request, flight] : flights_) committer_.put_back(flight.task.ticket.id);
}

Result<Outcome> Driver::run() {
  const std::stop_callback wake(stop_, [inbox = inbox_] { inbox->wake(); });
  if (const auto left = committer_.seconds_left())
    time_up_ = moment_after(steady_clock::now(), Seconds(*left));
  while (true) {
    watch_time();
    if (!stopping())
      if (auto there = committer_.check_journal(); !there) failure_ = there.error();
    if (!stopping()) {
      if (auto ok = begin_work(); !ok) failure_ = ok.error();
    }
    if (stopping()) {
      stop_flights();
      cancel_trials();
    }
    if (idle()) break;
    if (auto delivery = inbox_->take(next_moment())) land(std::move(*delivery));
    land_late();
  }
  // Nothing is under way any more, so a later session must not assume that a killed process left these calls.
  for (const auto& task : to_propose_) tell(committer_.end_call(task.ticket.id));
  if (error_ && !failure_)
    if (const Status told = committer_.fail_session(*error_); !told) failure_ = told.error();
  if (failure_) return *failure_;
  Outcome outcome = committer_.outcome();
  if (error_) {
    outcome.reason = EndReason::errors;
    outcome.error = error_;
  } else if (outcome.reason == EndReason::unfinished && stop_.stop_requested()) {
    outcome.reason = EndReason::stopped;
  }
  return outcome;
}

void Driver::watch_time() {
  if (!time_up_ || stopping() || steady_clock::now() < *time_up_) return;
  if (is_late_) return end_what_is_late();
  if (const auto left = committer_.seconds_left(); left && *left > 0) {  // no budget counts confirmations
    time_up_ = moment_after(steady_clock::now(), Seconds(*left));
    return;
  }
  is_late_ = true;
  end_what_is_late();
  const auto waited_for =
      std::ranges::count_if(flights_, [&](const auto& entry) { return is_waited_for(entry.second.task); });
  if (waited_for > 0)
    committer_.notify({Notice::Level::info, "the time is up: what was asked is waited for (" +
                                                std::to_string(waited_for) + "); Ctrl-C gives it up"});
}

void Driver::end_what_is_late() {
  // The newest go first, because they may be waiting for workers that older ones release when they end.
  for (auto entry = flights_.rbegin(); entry != flights_.rend(); ++entry) {
    Flight& flight = entry->second;
    flight.ending.request_stop();
    if (!is_waited_for(flight.task)) flight.stop.request_stop();
  }
  // Drops work that has not started. Only answers are still worth evaluating, and trials no longer lead to
  // answers.
  const auto is_worth_it = [&](const Task& task) {
    return task.role == Role::evaluate && is_waited_for(task) && !trials_.contains(task.ticket.id);
  };
  for (auto* tasks : {&to_propose_, &to_evaluate_}) {
    const auto ended = std::stable_partition(tasks->begin(), tasks->end(), is_worth_it);
    const std::vector<Task> late(ended, tasks->end());
    tasks->erase(ended, tasks->end());
    for (const Task& task : late) give_up_late(task);
  }
}

/// When the money is used up, paid calls continue, and nothing is retried.
void Driver::watch_money() {
  if (stopping() || committer_.affords_attempt()) return;
  for (auto& [request, flight] : flights_)
    if (flight.task.role == Role::propose) flight.ending.request_stop();
}

/// A run needs its seeds, and its result needs the confirmation of the best.
bool Driver::is_needed(const Task& task) const {
  const auto* remeasure = std::get_if<Remeasure>(&task.ticket.work);
  return is_seed(task.ticket) ||
         (remeasure && remeasure->why == Remeasurement::confirm && !trials_.contains(task.ticket.id));
}

/// Work that continues when the time is up: seeds, the best's confirmation, paid calls, and answers of
/// proposers other than the tuner.
bool Driver::is_waited_for(const Task& task) const {
  if (const auto* remeasure = std::get_if<Remeasure>(&task.ticket.work))
    return remeasure->why == Remeasurement::confirm;
  if (const auto* evaluate = std::get_if<Evaluate>(&task.ticket.work))
    return evaluate->child.origin != Origin::tune;
  if (!is_call(task.ticket)) return false;
  if (task.role == Role::evaluate || !options_.give_up_at_time) return true;
  return !options_.give_up_at_time(std::get<Propose>(task.ticket.work).model);
}

Status Driver::begin_work() {
  while (flying(Role::evaluate) < options_.evaluations_in_flight) {
    auto task = next_task(to_evaluate_);
    if (!task) break;
    start_evaluation(std::move(*task));
  }
  while (flying(Role::propose) < options_.proposals_in_flight) {
    if (auto task = next_task(to_propose_)) {
      if (task->failures == 0 || committer_.affords_attempt())
        start_proposal(std::move(*task));
      else
        give_up_unaffordable(task->ticket.id);
      continue;
    }
    // Early requests sample an old archive, so no request is made while evaluations pile up.
    if (to_evaluate_.size() >= options_.evaluations_in_flight) break;
    auto ticket = committer_.ask();
    if (!ticket) return ticket.error();
    if (!*ticket) break;
    const bool proposes = std::holds_alternative<Propose>((*ticket)->work);
    Task task{proposes ? Role::propose : Role::evaluate, std::move(**ticket)};
    if (is_late_ && (proposes || !is_waited_for(task))) {
      give_up_late(task);  // an earlier session left this ticket open
    } else if (proposes) {
      if (committer_.affords_call(task.ticket.id))
        start_proposal(std::move(task));
      else
        give_up_unaffordable(task.ticket.id);
    } else if (flying(Role::evaluate) < options_.evaluations_in_flight) {
      start_evaluation(std::move(task));
    } else {
      to_evaluate_.push_back(std::move(task));
    }
  }
  return {};
}

bool Driver::idle() const {
  return flights_.empty() && (stopping() || (to_propose_.empty() && to_evaluate_.empty()));
}

void Driver::start_proposal(Task task) {
  const auto& propose = std::get<Propose>(task.ticket.work);
  ProposalRequest request{options_.seed, task.ticket.id, propose.op, propose.model, propose.selection};
  request.tried = propose.tried;
  request.trials = propose.trials;
  const TicketId ticket = task.ticket.id;
  const auto [number, stop] = take_off(std::move(task));
  request.ending = flights_.at(number).ending.get_token();
  request.lost = [inbox = inbox_, number = number, ticket](const Cost& cost) {
    inbox->post({number, LostAttempt{ticket, cost}});
  };
  if (!options_.deterministic)
    request.attempt = [inbox = inbox_, number = number](Trial trial,
                                                        const std::function<void(Result<Tried>)>& done) {
      if (!inbox->post({number, AskedTrial{std::move(trial), done}})) done(trial_cancelled());
    };
  proposer_.start(std::move(request), stop, [inbox = inbox_, number = number](Result<Proposal> answer) {
    inbox->post({number, std::move(answer)});
  });
}

void Driver::start_evaluation(Task task) {
  tell(committer_.answer_repeat(task.ticket.id));
  auto job = committer_.job(task.ticket.id, task.failures > 0);
  if (!job) return;
  const auto [number, stop] = take_off(std::move(task));
  evaluator_.start(std::move(*job), stop, [inbox = inbox_, number = number](Result<Evaluation> answer) {
    inbox->post({number, std::move(answer)});
  });
}

std::pair<std::uint64_t, std::stop_token> Driver::take_off(Task task) {
  Flight flight{std::move(task), {}, {}, std::nullopt};
  if (options_.answer_timeout_s)
    flight.deadline = moment_after(steady_clock::now(), Seconds(*options_.answer_timeout_s));
  const auto stop = flight.stop.get_token();
  const auto number = next_request_++;
  flights_.emplace(number, std::move(flight));
  return {number, stop};
}

void Driver::land(Delivery delivery) {
  if (auto* lost = std::get_if<LostAttempt>(&delivery.content)) return count(std::move(*lost));
  if (auto* asked = std::get_if<AskedTrial>(&delivery.content))
    return begin_trial(delivery.request, std::move(*asked));
  const auto flight = flights_.extract(delivery.request);
  // A second answer, or an answer that was given up, is ignored; its ticket continues elsewhere.
  if (flight.empty()) return;
  if (auto* proposal = std::get_if<Result<Proposal>>(&delivery.content))
    accept(flight.mapped(), std::move(*proposal));
  else
    accept(flight.mapped(), std::move(std::get<Result<Evaluation>>(delivery.content)));
}

/// Journals the cost at once, so that it is not lost if the process is killed during the call.
void Driver::count(LostAttempt lost) {
  auto charged = committer_.charge(lost.ticket, std::move(lost.cost), !stopping());
  if (!charged && charged.error().code == ErrorCode::already_told) return;  // the call was given up
  tell(std::move(charged));
  watch_money();
}

void Driver::begin_trial(std::uint64_t request, AskedTrial asked) {
  const auto flight = flights_.find(request);
  if (flight == flights_.end())
    return asked.done(fail(ErrorCode::already_told, "the request that this trial is for was answered"));
  if (stopping()) return asked.done(trial_cancelled());
  auto opened = committer_.open_trial(flight->second.task.ticket.id, std::move(asked.trial));
  if (!opened) return asked.done(opened.error());
  if (opened->known) return asked.done(std::move(*opened->known));
  trials_.emplace(opened->ticket->id, std::move(asked.done));
  to_evaluate_.push_back({Role::evaluate, std::move(*opened->ticket)});
  tell(std::move(opened->commits));
}

void Driver::end_trial(const Commit& commit) {
  const auto waiting = trials_.extract(commit.ticket);
  if (waiting.empty()) return;
  const auto& done = waiting.mapped();
  if (commit.kind == CommitKind::given_back) return done(*commit.error);
  std::optional<Evaluation> evaluation;
  if (commit.kind == CommitKind::remeasured)  // shows the new measurement, whatever the archive has
    committer_.inspect([&](const SearchState& state) {
      evaluation = state.confirmations().at(commit.individual->program->id).latest;
    });
  done(Tried{commit.individual->program, evaluation.value_or(commit.individual->evaluation),
             commit.kind == CommitKind::repeated});
}

void Driver::cancel_trials() {
  for (const auto& [ticket, done] : std::exchange(trials_, {})) done(trial_cancelled());
}

void Driver::give_up_late(const Task& task, const Error* met) {
  std::string what = "the time was up before ";
  what += task.role == Role::propose ? "there was an answer" : "it was evaluated";
  if (met && met->code != ErrorCode::cancelled) what += "; it had met an error: " + describe_briefly(*met);
  auto closed = committer_.give_back(task.ticket.id, fail(ErrorCode::cancelled, std::move(what), "",
                                                          "kernelsmith resume --time sets a larger total"));
  if (!closed && closed.error().code == ErrorCode::already_told) return;  // it was a refusal or a repeat
  tell(std::move(closed));
}

void Driver::give_up_unaffordable(TicketId ticket) {
  tell(committer_.give_back(
      ticket, fail(ErrorCode::cancelled, "the money that is left covers no other attempt at this call", "",
                   "kernelsmith resume --max-usd sets a larger total")));
}

void Driver::land_late() {
  if (!options_.answer_timeout_s) return;
  const auto now = steady_clock::now();
  std::deque<Flight> late;
  for (auto it = flights_.begin(); it != flights_.end();) {
    if (it->second.deadline > now) {
      ++it;
    } else {
      late.push_back(std::move(it->second));
      it = flights_.erase(it);
    }
  }
  for (auto& flight : late) {
    flight.stop.request_stop();
    retry_or_give_up(std::move(flight.task), fail(ErrorCode::timeout, "no answer in time", "",
                                                  "raise answer_timeout_s if the work takes that long"));
  }
}

void Driver::stop_flights() {
  for (auto& [request, flight] : flights_) flight.stop.request_stop();
}

void Driver::accept(const Flight& flight, Result<Proposal> answer) {
  const Task& task = flight.task;
  if (!answer || answer->error()) {
    if (answer) tell(committer_.charge(task.ticket.id, answer->cost, !stopping()));
    if (flight.ending.stop_requested() && !is_late_ && !stopping())
      return give_up_unaffordable(task.ticket.id);
    return retry_or_give_up(task, answer ? *answer->error() : answer.error());
  }
  proposer_errors_.success();
  const std::optional<Refusal> refusal = answer->refusal() ? std::optional(*answer->refusal()) : std::nullopt;
  auto commits = committer_.propose(task.ticket.id, std::move(*answer));
  if (!commits && commits.error().code == ErrorCode::invalid_argument)
    return retry_or_give_up(task, commits.error());
  tell(std::move(commits));
  if (!failure_) to_evaluate_.push_back({Role::evaluate, task.ticket});
  if (is_call(task.ticket)) note_reply(std::get<Propose>(task.ticket.work).model, refusal);
  watch_money();
}

/// Counts replies without a program, which cost as much as others.
void Driver::note_reply(const std::string& model, const std::optional<Refusal>& refusal) {
  if (!refusal) barren_[model] = all_barren_ = 0;
  if (!refusal || refusal->code == RefusalCode::exhausted || stopping()) return;
  const std::string last = "; the last one: " + std::string(name_of(refusal->code)) + ": " +
                           refusal->detail.substr(0, refusal->detail.find('\n'));
  const std::string hint = "kernelsmith show RUN counts them by reason; a stronger model may do better";
  if (++barren_[model] == kTellOfBarren)
    committer_.notify({Notice::Level::warning, (model.empty() ? "the model" : model) + " has given " +
                                                   std::to_string(kTellOfBarren) +
                                                   " replies in a row without a program; " +
                                                   std::to_string(kMostBarren) + " end the run" + last});
  if (++all_barren_ >= kMostBarren)
    error_ = fail(ErrorCode::bad_reply,
                  std::to_string(kMostBarren) + " replies in a row gave no program" + last, model, hint);
}

void Driver::accept(const Flight& flight, Result<Evaluation> answer) {
  const Task& task = flight.task;
  if (!answer) return retry_or_give_up(task, answer.error());
  evaluator_errors_.success();
  tell(committer_.evaluate(task.ticket.id, std::move(*answer)));
}

void Driver::retry_or_give_up(Task task, Error error) {
  auto& streak = task.role == Role::propose ? proposer_errors_ : evaluator_errors_;
  auto& queue = task.role == Role::propose ? to_propose_ : to_evaluate_;
  if (stopping()) return queue.push_back(std::move(task));
  const bool waited = error.code == ErrorCode::timeout || error.code == ErrorCode::network;
  if (is_late_ && task.role == Role::evaluate && waited) {  // another session will evaluate the paid answers
    error_ = std::move(error);
    return queue.push_back(std::move(task));
  }
  if (is_late_ && !is_needed(task)) return give_up_late(task, &error);
  ++task.failures;
  const bool gives_up =
      task.failures > options_.retries || (task.role == Role::propose && is_the_prompts(error.code));
  // Errors that pass by themselves count only if the ticket is given up.
  const bool counts = !passes_by_itself(error.code) || gives_up;
  if (counts && streak.failure(error.code, task.role == Role::propose)) {
    error_ = error;
    return queue.push_back(std::move(task));
  }
  committer_.notify({Notice::Level::warning, "ticket " + std::to_string(task.ticket.id.value) +
                                                 " met an error: " + describe_briefly(error)});
  if (gives_up && !is_seed(task.ticket)) return tell(committer_.give_back(task.ticket.id, std::move(error)));
  task.not_before =
      moment_after(steady_clock::now(), growing_pause(Seconds(options_.retry_delay_s), task.failures));
  queue.push_back(std::move(task));
}

void Driver::tell(Result<Committer::Commits> commits) {
  if (!commits) {
    if (!failure_) failure_ = commits.error();
    return;
  }
  for (const auto& commit : *commits) {
    end_trial(commit);
    if (on_commit_) on_commit_(commit);
  }
}

std::optional<Driver::Task> Driver::next_task(std::deque<Task>& tasks) {
  const auto now = steady_clock::now();
  const auto it = std::ranges::find_if(tasks, [&](const Task& task) { return task.not_before <= now; });
  if (it == tasks.end()) return std::nullopt;
  Task task = std::move(*it);
  tasks.erase(it);
  return task;
}

std::size_t Driver::flying(Role role) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(flights_, [&](const auto& entry) { return entry.second.task.role == role; }));
}

std::optional<Moment> Driver::next_moment() const {
  std::optional<Moment> next;
  const auto consider = [&](Moment moment) { next = next ? std::min(*next, moment) : moment; };
  if (time_up_ && !is_late_ && !stopping()) consider(*time_up_);
  for (const auto& [request, flight] : flights_) {
    if (flight.deadline) consider(*flight.deadline);
  }
  if (stopping()) return next;
  const auto now = steady_clock::now();
  consider(now + kCheckJournalEvery);
  for (const auto* tasks : {&to_propose_, &to_evaluate_}) {
    for (const auto& task : *tasks) {
      if (task.not_before > now) consider(task.not_before);
    }
  }
  return next;
}

}  // namespace kernelsmith
