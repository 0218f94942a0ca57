// TimingRounds: times the players against each other, in rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "judge/constants.hpp"
#include "judge/player.hpp"
#include "timing/input_schedule.hpp"
#include "timing/round_plan.hpp"
#include "timing/samples.hpp"
#include "timing/stopping.hpp"

namespace kernelsmith::judge {

struct TimingSetup {
  timing::StoppingRule rule;
  timing::Reuse reuse = timing::Reuse::never;
  std::vector<double> yardstick_us;  ///< approximate, by timed shape
  std::size_t samples_of_round = kSamplesOfRound;
};

struct TimingResult {
  std::vector<timing::ShapeSamples> shapes;  ///< by timed shape
  /// The rule that the rival broke, if any; the samples then have no times of the rival.
  std::optional<std::string> rival_failed;
};

/// A round opens all players again, each in the next memory place, and takes a few samples at each shape. A
/// turn has as many rounds as players, so that every player was in every place; only complete turns are made.
/// Not thread-safe.
class TimingRounds {
 public:
  /// `players`: candidate, yardstick and, if there is one, the rival.
  TimingRounds(const Context& context, std::vector<Player*> players, TimingSetup setup);

  /// Measures until every shape has enough samples or no sets are left.
  Judged<TimingResult> run();

 private:
  struct Shape {
    timing::InputSchedule schedule;
    timing::ShapeSamples samples{};
    double call_us = 0;     ///< the fastest call so far
    double spent_us = 0;    ///< time of the calls in samples
    std::size_t calls = 0;  ///< calls of a batch in the first round
    bool open = true;
  };

  Judged<void> take_round(std::size_t rounds_of_turn);
  Judged<void> open_players();
  Judged<void> sample_shape(std::size_t shape, std::size_t rounds_of_turn);
  std::size_t calls_of_batch(std::size_t most);
  Judged<std::vector<double>> run_all(std::size_t shape, std::size_t calls, bool backwards);
  Judged<void> take_sample(std::size_t shape, std::size_t batches, std::size_t most_calls,
                           timing::TimingSamples& samples);
  timing::RoundPlan plan(std::size_t shape, std::size_t sets_left, std::size_t rounds_of_turn) const;
  bool has_enough(std::size_t shape) const;
  bool any_open() const;
  Judged<void> unless_rivals(std::size_t player, const Failure& failure);

  const Context* context_;
  std::vector<Player*> players_;
  TimingSetup setup_;
  SecretStream random_;
  std::vector<Shape> shapes_;
  const std::size_t places_;  ///< initially the number of players
  std::size_t rounds_done_ = 0;
  std::optional<std::string> rival_failed_;
};

}  // namespace kernelsmith::judge
