#include "dealing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kernelsmith {
namespace {

/// How many processes get new sets, where a hand has enough.
constexpr std::size_t kProcessesWithUnmet = 4;
/// Sets of a shape that a candidate's checks, warm-ups, trials and lone calls take.
constexpr std::size_t kLeastTrials = 4, kMostTrials = 96;

std::size_t round_up(std::size_t x, std::size_t step) { return (x + step - 1) / step * step; }

std::vector<std::size_t> all_of(std::size_t sets) {
  std::vector<std::size_t> all(sets);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

Hand Hand::of(std::vector<std::size_t> sets) {
  Hand hand(std::move(sets));
  hand.end_ = hand.order_.size();
  hand.stale_ = false;
  return hand;
}

std::size_t Hand::share_of_unmet(std::size_t rows) const {
  return round_up(round_up(size(), kProcessesWithUnmet) / kProcessesWithUnmet, rows);
}

void Hand::gather(const std::vector<std::size_t>& first_met, std::size_t unmet, SecretStream& random) {
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
  const auto is_unmet = [&](std::size_t set) { return first_met[set] == 0; };
  const auto met = std::stable_partition(order_.begin(), order_.end(), is_unmet);
  const auto all_unmet = static_cast<std::size_t>(met - order_.begin());
  unmet = std::min(unmet, all_unmet);
  std::rotate(order_.begin() + static_cast<std::ptrdiff_t>(unmet), met, order_.end());
  next_ = 0;
  end_ = order_.size() - (all_unmet - unmet);
  stale_ = false;
}

std::vector<std::size_t> Hand::take(std::size_t count) {
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(next_);
  next_ += count;
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

Deal::Deal(std::size_t sets) : trials(all_of(sets)), pairs(all_of(sets)), first_met(sets) {}

Deal Deal::split(std::size_t sets, SecretStream& random) {
  Deal deal(sets);
  deal.trials.gather(deal.first_met, sets, random);
  const std::size_t trials = std::min(sets, std::clamp(sets / 3, kLeastTrials, kMostTrials));
  std::vector<std::size_t> for_trials = deal.trials.take(trials);
  deal.pairs = Hand(deal.trials.take(sets - trials));
  deal.trials = Hand(std::move(for_trials));
  return deal;
}

}  // namespace kernelsmith
