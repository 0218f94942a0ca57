#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include <kernelsmith/engine/follow.hpp>
#include <kernelsmith/engine/search_state.hpp>

#include "settings.hpp"

namespace kernelsmith {
namespace {

/// Clears the parts of an event that do not describe the search itself.
bool is_session(const Event& event) {
  return std::holds_alternative<SessionStarted>(event) || std::holds_alternative<SessionFailed>(event);
}

const OpenTicket* unanswered(const SearchState& state, TicketId id) {
  const auto it = state.open().find(id);
  return it == state.open().end() || it->second.answered() ? nullptr : &it->second;
}

bool takes(const SearchState& state, const ProposalArrived& arrived) {
  const OpenTicket* ticket = unanswered(state, arrived.ticket);
  if (!ticket || ticket->challenger || ticket->proposal) return false;
  const Child* child = arrived.proposal.child();
  return !child || std::ranges::all_of(child->parents,
                                       [&](ProgramId parent) { return state.lineage().contains(parent); });
}

/// Whether the state allows this trial. Only the proposer knows when it requests one.
bool takes_trial(const SearchState& state, const TicketOpened& opened) {
  const OpenTicket* outer = unanswered(state, *opened.within);
  if (!outer || outer->proposal || outer->challenger || opened.ticket != state.next_ticket()) return false;
  if (!opened.remeasurement) return true;
  const auto program = state.programs().find(*opened.parent);
  return program != state.programs().end() && program->second.accepted;
}

bool takes(const SearchState& state, const EvaluationArrived& arrived) {
  const OpenTicket* ticket = unanswered(state, arrived.ticket);
  if (!ticket) return false;
  if (ticket->challenger) return ticket->challenger->program->id == arrived.program;
  if (!ticket->child()) return false;
  if (arrived.source == EvaluationSource::cached)
    return state.repeated_program(arrived.ticket) == arrived.program;
  if (arrived.source == EvaluationSource::same_binary) return state.programs().contains(arrived.program);
  return arrived.program == ProgramId{arrived.ticket.value};
}

/// The ticket that opens if the money that is left covers no call. The recorded run may have opened it,
/// because no event records the forecast cost of a first call.
std::optional<TicketOpened> without_money(SearchState state) {
  Budgets budgets = state.budgets();
  if (!budgets.usd) return std::nullopt;
  budgets.usd = 0;
  state.set_budgets(budgets);
  return state.next_opening(state.elapsed_s());
}

}  // namespace

bool same_step(const Event& one, const Event& other) {
  return std::visit(
      [](const auto& a, const auto& b) {
        using A = std::decay_t<decltype(a)>;
        if constexpr (!std::is_same_v<A, std::decay_t<decltype(b)>>) {
          return false;
        } else if constexpr (std::is_same_v<A, EvaluationArrived>) {
          return a.ticket == b.ticket && a.program == b.program && a.source == b.source;
        } else if constexpr (std::is_same_v<A, TicketClosed>) {
          return a.ticket == b.ticket && a.error.has_value() == b.error.has_value();
        } else if constexpr (std::is_same_v<A, CallFailed>) {
          return a.ticket == b.ticket && a.cost == b.cost && a.goes_on == b.goes_on;
        } else if constexpr (std::is_same_v<A, SessionStarted>) {
          return a.budgets == b.budgets;
        } else {
          return a == b;
        }
      },
      one, other);
}

bool would_do(const SearchState& state, const Event& recorded) {
  if (is_session(recorded)) return true;
  const double now = state.elapsed_s();
  if (const auto due = state.due(now)) return same_step(*due, recorded);
  if (const auto* opened = std::get_if<TicketOpened>(&recorded)) {
    if (opened->within) return takes_trial(state, *opened);
    // A confirmation comes when the time is up, but no event records that moment.
    const auto early = state.next_opening(now);
    const auto late = state.next_opening(std::numeric_limits<double>::infinity());
    return (early && *early == *opened) || (late && *late == *opened) || without_money(state) == *opened;
  }
  if (const auto* arrived = std::get_if<ProposalArrived>(&recorded)) return takes(state, *arrived);
  if (const auto* arrived = std::get_if<EvaluationArrived>(&recorded)) return takes(state, *arrived);
  if (const auto* failed = std::get_if<CallFailed>(&recorded)) {
    const OpenTicket* ticket = unanswered(state, failed->ticket);
    return ticket && !ticket->challenger && !ticket->proposal;
  }
  const auto* closed = std::get_if<TicketClosed>(&recorded);
  return closed && closed->error && unanswered(state, closed->ticket);
}

Result<Place> place_in(const Journal& recording, const Journal& own) {
  std::vector<Event> done;
  const Status read = own.replay(0, [&](std::uint64_t, const Event& event) -> Status {
    if (!is_session(event)) done.push_back(event);
    return {};
  });
  if (!read) return read.error();
  Place place;
  std::size_t next = 0;
  bool behind = false;
  const Status compared = recording.replay(0, [&](std::uint64_t position, const Event& event) -> Status {
    if (behind || !place.fits) return {};
    if (const auto* session = std::get_if<SessionStarted>(&event)) {
      place.budgets = budgets_from(session->budgets);
      place.settings = session->settings;
    }
    if (!is_session(event) && next == done.size()) {
      behind = true;
      return {};
    }
    if (!is_session(event) && !same_step(done[next++], event)) {
      place.fits = false;
      return {};
    }
    place.position = position;
    return {};
  });
  if (!compared) return compared.error();
  if (next < done.size()) place.fits = false;
  return place;
}

}  // namespace kernelsmith
