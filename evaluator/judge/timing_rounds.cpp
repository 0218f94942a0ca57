#include "judge/timing_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "judge/check.hpp"
#include "judge/constants.hpp"

namespace kernelsmith::judge {
namespace {

constexpr std::size_t kCandidate = 0, kYardstick = 1, kRival = 2;

/// The factor by which the score's interval is narrower than one shape's, because the score is the mean over
/// the shapes.
double narrowing_of_mean(const Context& context) {
  const std::vector<double> weights = context.weights();
  if (weights.empty()) return std::sqrt(static_cast<double>(context.timed()));
  double squares = 0;
  for (const double weight : weights) squares += weight * weight;
  return 1 / std::sqrt(squares);
}

}  // namespace

TimingRounds::TimingRounds(const Context& context, std::vector<Player*> players, TimingSetup setup)
    : context_(&context), players_(std::move(players)), setup_(std::move(setup)), places_(players_.size()) {
  setup_.rule.target *= narrowing_of_mean(context);
  for (std::size_t shape = 0; shape < context.timed(); ++shape)
    shapes_.push_back(
        {timing::InputSchedule(check_sets(context, shape), context.sets(shape).size(), setup_.reuse, random_),
         {},
         setup_.yardstick_us[shape]});
}

Judged<TimingResult> TimingRounds::run() {
  while (any_open()) {
    for (std::size_t to_come = places_; to_come > 0; --to_come)
      if (auto taken = take_round(to_come); !taken) return taken.error();
    for (std::size_t shape = 0; shape < shapes_.size(); ++shape) shapes_[shape].open = !has_enough(shape);
  }
  TimingResult result{{}, std::move(rival_failed_)};
  for (Shape& shape : shapes_) {
    if (result.rival_failed) shape.samples.batches.rival_us.clear(), shape.samples.lone.rival_us.clear();
    result.shapes.push_back(std::move(shape.samples));
  }
  return result;
}

Judged<void> TimingRounds::take_round(std::size_t rounds_of_turn) {
  if (auto opened = open_players(); !opened) return opened;
  context_->host.rest();
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape)
    if (shapes_[shape].open)
      if (auto sampled = sample_shape(shape, rounds_of_turn); !sampled) return sampled;
  ++rounds_done_;
  return {};
}

/// A kernel's place in memory changes its speed by some percent, so places rotate.
Judged<void> TimingRounds::open_players() {
  for (Player* const player : players_) player->close();
  for (std::size_t i = 0; i < players_.size(); ++i)
    if (auto opened = players_[i]->open((i + rounds_done_) % places_); !opened)
      if (auto rivals = unless_rivals(i, opened.error()); !rivals) return rivals;
  return {};
}

Judged<void> TimingRounds::sample_shape(std::size_t shape, std::size_t rounds_of_turn) {
  Shape& at = shapes_[shape];
  if (at.schedule.left() == 0) return {};
  if (const auto warm_up = run_all(shape, 1, false); !warm_up) return warm_up.error();
  const timing::RoundPlan round = plan(shape, at.schedule.left(), rounds_of_turn);
  if (rounds_done_ == 0) at.calls = round.calls;
  for (std::size_t i = 0; i < round.lone; ++i)
    if (auto taken = take_sample(shape, 1, 1, at.samples.lone); !taken) return taken;
  for (std::size_t i = 0; i < round.samples; ++i)
    if (auto taken = take_sample(shape, round.batches, round.calls, at.samples.batches); !taken) return taken;
  return {};
}

/// If no single calls limit a batch's gain, its number of calls must be secret. Otherwise a kernel could
/// leave work to the last call.
std::size_t TimingRounds::calls_of_batch(std::size_t most) {
  if (!context_->host.traits().isolated_calls) return most;
  const std::size_t least = (most + 1) / 2;
  return least + random_.below(most - least + 1);
}

/// Runs one batch of each player on the same sets, then compares outputs. Returns the time of a call, by
/// player.
Judged<std::vector<double>> TimingRounds::run_all(std::size_t shape, std::size_t calls, bool backwards) {
  const std::vector<std::size_t> sets = shapes_[shape].schedule.take(calls);
  const std::size_t players = players_.size();
  std::vector<double> call_us(players);
  for (std::size_t i = 0; i < players; ++i) {
    const std::size_t player = backwards ? players - 1 - i : i;
    if (const auto time = players_[player]->run(shape, sets)) {
      call_us[player] = std::max(*time, kLeastUs);
    } else if (auto rivals = unless_rivals(player, time.error()); !rivals) {
      return rivals.error();
    }
  }
  for (std::size_t player = 0; player < players_.size(); ++player)
    if (auto right = players_[player]->compare(Values::hidden); !right)
      if (auto rivals = unless_rivals(player, right.error()); !rivals) return rivals.error();
  call_us.resize(players_.size());
  shapes_[shape].call_us = std::min(shapes_[shape].call_us, call_us[kCandidate]);
  return call_us;
}

/// Takes the mean of `batches` batches of at most `most_calls` calls. The order of the players alternates
/// from batch to batch, so that a drift of the machine favours none.
Judged<void> TimingRounds::take_sample(std::size_t shape, std::size_t batches, std::size_t most_calls,
                                       timing::TimingSamples& samples) {
  std::vector<double> sums_us(players_.size());
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const std::size_t calls = calls_of_batch(most_calls);
    const auto call_us = run_all(shape, calls, (samples.size() + batch) % 2 != 0);
    if (!call_us) return call_us.error();
    sums_us.resize(call_us->size());
    for (std::size_t player = 0; player < sums_us.size(); ++player) {
      sums_us[player] += (*call_us)[player];
      shapes_[shape].spent_us += (*call_us)[player] * static_cast<double>(calls);
    }
  }
  for (double& sum_us : sums_us) sum_us /= static_cast<double>(batches);
  samples.candidate_us.push_back(sums_us[kCandidate]);
  samples.yardstick_us.push_back(sums_us[kYardstick]);
  if (sums_us.size() > kRival) samples.rival_us.push_back(sums_us[kRival]);
  return {};
}

timing::RoundPlan TimingRounds::plan(std::size_t shape, std::size_t sets_left,
                                     std::size_t rounds_of_turn) const {
  const Shape& at = shapes_[shape];
  const std::size_t capacity = std::min(context_->capacity(shape), at.schedule.size());
  const HostTraits traits = context_->host.traits();
  // Calls that are not isolated need a whole sample at each shape, see kSampleUs.
  const std::size_t sharing = traits.isolated_calls ? context_->timed() : 1;
  return timing::plan_round({sets_left, rounds_done_, rounds_of_turn, capacity, at.call_us,
                             setup_.samples_of_round, traits.batch_us, !traits.isolated_calls, sharing});
}

/// A shape also has enough samples if the sets that are left are too few for another turn, or if the turn's
/// batches would have less than half as many calls, and so be less precise.
bool TimingRounds::has_enough(std::size_t shape) const {
  const Shape& at = shapes_[shape];
  if (!at.open || enough({at.samples.batches.ratios(), rounds_done_, at.spent_us}, setup_.rule)) return true;
  if (at.schedule.left() == 0) return true;
  const timing::RoundPlan next = plan(shape, at.schedule.left() - 1, places_);
  return next.samples == 0 || 2 * next.calls < at.calls;
}

bool TimingRounds::any_open() const {
  return std::ranges::any_of(shapes_, [](const Shape& shape) { return shape.open; });
}

/// A rival that breaks a rule has lost, and the other players go on without it. Any other failure ends the
/// timing.
Judged<void> TimingRounds::unless_rivals(std::size_t player, const Failure& failure) {
  const Rejection* const rejection = std::get_if<Rejection>(&failure);
  if (player != kRival || !rejection) return failure;
  rival_failed_ = rejection->diagnostics;
  players_[kRival]->close();
  players_.resize(kRival);
  return {};
}

}  // namespace kernelsmith::judge
