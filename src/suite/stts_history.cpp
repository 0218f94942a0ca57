// Chooses the turns that a model is shown again, and computes rewards.
#include <algorithm>
#include <limits>
#include <numeric>

#include <kernelsmith/core/enum_names.hpp>
#include <kernelsmith/suite/stts.hpp>

#include "best_candidate.hpp"

namespace kernelsmith {
namespace {

/// The largest speedup that a reward counts. Dr. Kernel suspects the measurement of larger ones.
constexpr double kMostSpeedup = 3;
constexpr double kCorrectWeight = 0.5, kSpeedupWeight = 0.5;

constexpr auto kWindows = detail::enum_names<SttsWindow>({
    {SttsWindow::consecutive, "consecutive"},
    {SttsWindow::top, "top"},
});

std::vector<std::size_t> numbers_from(std::size_t first, std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

double reward_up_to(double most, const Evaluation& evaluation) {
  const auto speedup = suite::speedup_of(evaluation);
  return speedup ? kCorrectWeight + kSpeedupWeight * std::clamp(speedup->median, 0.0, most) : 0;
}

/// What the model said in the turn. Never empty, because servers refuse a message without text.
std::string said(const SttsTurn& turn) {
  const auto& reply = turn.proposal.reply;
  if (reply && !reply->text.empty()) return reply->text;
  if (reply && !reply->reasoning.empty()) return reply->reasoning;
  return "(no reply)";
}

}  // namespace

std::string_view name_of(SttsWindow window) { return detail::name_in(kWindows, window); }
std::optional<SttsWindow> stts_window_from(std::string_view name) { return detail::value_in(kWindows, name); }

Status check_plan(const SttsPlan& plan) {
  if (plan.turns == 0 || plan.first == 0 || plan.keep == 0)
    return fail(ErrorCode::invalid_argument, "turns, first turns and kept turns must be at least 1", "stts");
  if (plan.first > plan.turns)
    return fail(ErrorCode::invalid_argument,
                "the first conversation has " + std::to_string(plan.first) + " turns, but there are only " +
                    std::to_string(plan.turns) + " in all",
                "--first", "raise --turns, or lower --first");
  return {};
}

std::vector<std::size_t> best_window(std::span<const double> rewards, std::size_t keep) {
  if (rewards.size() <= keep) return numbers_from(0, rewards.size());
  std::size_t best = 0;
  double most = 0;
  for (std::size_t first = 0; first + keep <= rewards.size(); ++first) {
    const auto window = rewards.subspan(first, keep);
    const double sum = std::accumulate(window.begin(), window.end(), 0.0);
    if (first == 0 || sum > most) best = first, most = sum;
  }
  return numbers_from(best, keep);
}

std::vector<std::size_t> best_turns(std::span<const double> rewards, std::size_t keep) {
  std::vector<std::size_t> turns = numbers_from(0, rewards.size());
  std::ranges::stable_sort(turns, std::greater(), [&](std::size_t turn) { return rewards[turn]; });
  turns.resize(std::min(keep, turns.size()));
  std::ranges::sort(turns);
  return turns;
}

std::vector<std::size_t> shown_turns(const SttsPlan& plan, std::span<const double> rewards) {
  if (rewards.size() < plan.first) return numbers_from(0, rewards.size());
  return plan.window == SttsWindow::top ? best_turns(rewards, plan.keep) : best_window(rewards, plan.keep);
}

double stts_reward(const Evaluation& evaluation) { return reward_up_to(kMostSpeedup, evaluation); }

double uncapped_stts_reward(const Evaluation& evaluation) {
  return reward_up_to(std::numeric_limits<double>::max(), evaluation);
}

std::vector<double> SttsTrajectory::uncapped_rewards() const {
  std::vector<double> rewards;
  for (const SttsTurn& turn : turns)
    rewards.push_back(turn.evaluation ? uncapped_stts_reward(*turn.evaluation) : 0);
  return rewards;
}

std::vector<Message> stts_messages(const SttsTrajectory& trajectory, const std::vector<std::size_t>& shown) {
  std::vector<Message> messages;
  if (!trajectory.system.empty()) messages.push_back({Role::system, trajectory.system});
  messages.push_back({Role::user, trajectory.user});
  for (const std::size_t turn : shown) {
    messages.push_back({Role::assistant, said(trajectory.turns[turn])});
    messages.push_back({Role::user, trajectory.turns[turn].feedback});
  }
  return messages;
}

}  // namespace kernelsmith
