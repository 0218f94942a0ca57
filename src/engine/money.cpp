// What calls to models cost, and whether another one may be begun. All of it is a fold over the journal.

#include <algorithm>
#include <array>

#include <kernelsmith/engine/search_state.hpp>

#include "settings.hpp"

namespace kernelsmith {
namespace {

constexpr std::array kMarks{0.5, 0.8};  // of the budget, at which the user is warned
constexpr double kRounding = 1e-9;      // ten times 0.1 is a little less than 1

}  // namespace

/// The tuner's children cost nothing.
bool is_call(const TicketOpened& ticket) { return ticket.op && *ticket.op != Operator::tune; }

Spending SearchState::spending() const {
  Spending all = spending_;
  for (const auto& [id, ticket] : open_)
    for (const Cost& cost : ticket.costs) all.add(cost);
  return all;
}

/// In deterministic mode a cost counts when its ticket takes effect: when it arrives is chance.
void SearchState::charge(OpenTicket& ticket, const Cost& cost) {
  if (options_.deterministic)
    ticket.costs.push_back(cost);
  else
    count(ticket.opened, cost);
}

void SearchState::count(const TicketOpened& ticket, const Cost& cost) {
  Spending one;
  one.add(cost);
  spending_.add(cost);
  if (!is_call(ticket)) return;
  double& dearest = dearest_usd_[ticket.model];
  dearest = std::max(dearest, one.usd());
}

std::uint64_t SearchState::marks_passed() const {
  if (!budgets_.usd) return 0;
  const double share = spending_.usd() / *budgets_.usd + kRounding;
  return static_cast<std::uint64_t>(
      std::ranges::count_if(kMarks, [&](double mark) { return share >= mark; }));
}

bool SearchState::room_for_call(const TicketOpened& next) const {
  if (!budgets_.usd || !is_call(next)) return true;
  double unknown = 0;  // what a model without an answer is taken to cost
  for (const auto& [model, usd] : dearest_usd_) unknown = std::max(unknown, usd);
  const auto expected = [&](const std::string& model) {
    const auto known = dearest_usd_.find(model);
    return known == dearest_usd_.end() ? unknown : known->second;
  };
  const double spent = spending_.usd();
  double taken = spent + expected(next.model);
  for (const auto& [id, ticket] : open_) {
    const bool under_way = !ticket.proposal || options_.deterministic;
    if (!is_call(ticket.opened) || !under_way) continue;
    if (ticket.opened.model == next.model && !dearest_usd_.contains(next.model)) return false;
    taken += expected(ticket.opened.model);
  }
  return spent < *budgets_.usd && taken <= *budgets_.usd * (1 + kRounding);
}

}  // namespace kernelsmith
