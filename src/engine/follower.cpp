#include "follower.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace kernelsmith {
namespace {

std::string number_of(TicketId ticket) { return "ticket " + std::to_string(ticket.value); }

std::string list_of(const char* what, const std::vector<ProgramId>& programs) {
  std::string text;
  for (const ProgramId program : programs) text += (text.empty() ? "" : " ") + std::to_string(program.value);
  return text.empty() ? text : std::string(", ") + what + " " + text;
}

std::string words_for(const TicketOpened& opened) {
  std::string text = number_of(opened.ticket) + " is ";
  if (opened.op) text += std::string(name_of(*opened.op));
  if (opened.remeasurement) text += std::string(name_of(*opened.remeasurement));
  if (!opened.op && !opened.remeasurement) text += "a seed";
  if (opened.parent) text += " of program " + std::to_string(opened.parent->value);
  return text + " on island " + std::to_string(opened.island.value) + list_of("top", opened.top) +
         list_of("inspirations", opened.inspirations) + list_of("failures", opened.failures);
}

struct Words {
  std::string operator()(const SessionStarted&) const { return "a session begins"; }
  std::string operator()(const TicketOpened& opened) const { return words_for(opened); }
  std::string operator()(const ProposalArrived& arrived) const {
    return number_of(arrived.ticket) + " has a proposal";
  }
  std::string operator()(const CallFailed& failed) const {
    return "a call for " + number_of(failed.ticket) + " fails";
  }
  std::string operator()(const EvaluationArrived& arrived) const {
    return number_of(arrived.ticket) + " has an evaluation of program " +
           std::to_string(arrived.program.value);
  }
  std::string operator()(const TicketClosed& closed) const { return number_of(closed.ticket) + " is closed"; }
  std::string operator()(const SessionFailed&) const { return "a session ends with an error"; }
  std::string operator()(const PeriodCrossed& crossed) const {
    return crossed.policy + " " + std::to_string(crossed.epoch);
  }
};

std::string words_for(const std::optional<Event>& event) {
  return event ? std::visit(Words{}, *event) : std::string("nothing of the kind is due");
}

/// The run's own next step.
std::optional<Event> own_step(const SearchState& state) {
  if (auto due = state.due(state.elapsed_s())) return due;
  if (auto opening = state.next_opening(state.elapsed_s())) return Event(std::move(*opening));
  return std::nullopt;
}

/// Ends the reading of a recording. `followed_` says why.
Error enough() { return fail(ErrorCode::cancelled, "enough"); }

}  // namespace

Follower::Follower(Committer& committer, Evaluator* evaluator,
                   const std::function<void(const Commit&)>& on_commit, std::stop_token stop)
    : committer_(committer), evaluator_(evaluator), on_commit_(on_commit), stop_(std::move(stop)) {}

Follower::~Follower() {
  for (auto& [ticket, flight] : flights_) flight.request_stop();
  while (!flights_.empty()) collect();
}

Result<Followed> Follower::run(const Journal& recording) {
  const std::stop_callback wake(stop_, [answers = answers_] { answers->wake(); });
  const auto place = committer_.place_in(recording);
  if (!place) return place.error();
  if (!place->fits) {
    followed_ = {Followed::End::parted, fail(ErrorCode::not_found, "this run left its recording earlier")};
    return followed_;
  }
  enqueue_open();
  bool entered = !place->budgets;
  const Status visited = recording.replay(place->position, [&](std::uint64_t, const Event& event) -> Status {
    if (!std::exchange(entered, true))
      if (Status ok = committer_.enter(*place->budgets, place->settings); !ok) return ok;
    return take(event);
  });
  if (!visited && followed_.end == Followed::End::whole) return visited.error();
  return followed_;
}

Status Follower::take(const Event& recorded) {
  if (stop_.stop_requested()) followed_.end = Followed::End::stopped;
  if (followed_.end != Followed::End::whole) return enough();
  if (std::holds_alternative<SessionFailed>(recorded)) return {};  // that session's error is not this run's
  bool fits = false;
  committer_.inspect([&](const SearchState& state) { fits = would_do(state, recorded); });
  if (!fits) {
    part(recorded);
    return enough();
  }
  std::optional<Evaluation> evaluation;
  const auto* arrived = std::get_if<EvaluationArrived>(&recorded);
  if (arrived && arrived->source == EvaluationSource::evaluated && evaluator_) {
    auto answer = measured(arrived->ticket);
    if (!answer) {
      const bool stopped = stop_.stop_requested();
      followed_.end = stopped ? Followed::End::stopped : Followed::End::failed;
      if (!stopped) followed_.why = answer.error();
      return enough();
    }
    evaluation = std::move(*answer);
  }
  return repeat(recorded, std::move(evaluation));
}

void Follower::part(const Event& recorded) {
  std::optional<Event> own;
  committer_.inspect([&](const SearchState& state) { own = own_step(state); });
  followed_ = {
      Followed::End::parted,
      fail(ErrorCode::not_found,
           "this run leaves its recording, where " + words_for(recorded) + "; here " + words_for(own), "",
           evaluator_ ? "new measurements differ, and so does what is selected; keep the "
                        "recorded evaluations to repeat the search itself"
                      : "repeat it with its own task and configuration, and the same kernelsmith")};
}

Status Follower::repeat(const Event& recorded, std::optional<Evaluation> measured) {
  auto commits = committer_.repeat(recorded, std::move(measured));
  if (!commits) return commits.error();
  if (const auto* closed = std::get_if<TicketClosed>(&recorded)) forget(closed->ticket);
  if (const auto* arrived = std::get_if<EvaluationArrived>(&recorded)) forget(arrived->ticket);
  if (const auto* arrived = std::get_if<ProposalArrived>(&recorded)) enqueue(arrived->ticket);
  if (const auto* opened = std::get_if<TicketOpened>(&recorded))
    if (opened->remeasurement) enqueue(opened->ticket);
  start_what_may();
  if (on_commit_)
    for (const auto& commit : *commits) on_commit_(commit);
  return {};
}

void Follower::enqueue(TicketId ticket) {
  committer_.inspect([&](const SearchState& state) {
    const auto it = state.open().find(ticket);
    if (it == state.open().end() || it->second.answered()) return;
    const bool needed = it->second.challenger || (it->second.child() && !state.repeated_program(ticket));
    if (needed) waiting_.push_back(ticket);
  });
}

void Follower::enqueue_open() {
  std::vector<TicketId> open;
  committer_.inspect([&](const SearchState& state) {
    for (const auto& [id, ticket] : state.open()) open.push_back(id);
  });
  for (const TicketId ticket : open) enqueue(ticket);
  start_what_may();
}

void Follower::start_what_may() {
  if (!evaluator_) return waiting_.clear();
  while (!waiting_.empty() && flights_.size() < committer_.options().evaluations_in_flight) {
    const TicketId ticket = waiting_.front();
    waiting_.pop_front();
    start(ticket);
  }
}

void Follower::start(TicketId ticket) {
  auto job = committer_.job(ticket, failures_.contains(ticket));
  if (!job) return;
  const auto token = flights_[ticket].get_token();
  evaluator_->start(std::move(*job), token, [answers = answers_, ticket](Result<Evaluation> answer) {
    answers->post({ticket, std::move(answer)});
  });
}

void Follower::forget(TicketId ticket) {
  std::erase(waiting_, ticket);
  done_.erase(ticket);
  if (const auto flight = flights_.find(ticket); flight != flights_.end()) flight->second.request_stop();
}

void Follower::collect() {
  auto arrived = answers_->take(std::chrono::steady_clock::now() + kCheckJournalEvery);
  if (!arrived) return;
  flights_.erase(arrived->first);
  done_.insert_or_assign(arrived->first, std::move(arrived->second));
}

Result<Evaluation> Follower::measured(TicketId ticket) {
  for (;;) {
    if (const auto done = done_.extract(ticket)) {
      if (done.mapped()) return done.mapped();
      if (const Status again = retry(ticket, done.mapped().error()); !again) return again.error();
    }
    if (stop_.stop_requested()) return fail(ErrorCode::cancelled, "stopped on request");
    if (const Status there = committer_.check_journal(); !there) return there.error();
    if (!flights_.contains(ticket)) {  // the recording continues with this evaluation, so it comes first
      std::erase(waiting_, ticket);
      waiting_.push_front(ticket);
    }
    start_what_may();
    collect();
  }
}

Status Follower::retry(TicketId ticket, const Error& error) {
  const auto& options = committer_.options();
  const unsigned failures = ++failures_[ticket];
  if (stop_.stop_requested() || failures > options.retries) return error;
  committer_.notify({Notice::Level::warning, number_of(ticket) + " ended in an error: " + describe(error)});
  pause_for(growing_pause(Seconds(options.retry_delay_s), failures), stop_);
  waiting_.push_front(ticket);
  return {};
}

}  // namespace kernelsmith
