// Every constant of judge and timing, with its reason. Times are in microseconds unless the name says so.
#pragma once

#include <cstddef>

namespace kernelsmith::judge {

// The check.
/// Sets of a timed shape that serve the check alone: the first call may make tables, the second is typical.
inline constexpr std::size_t kCheckSetsOfTimed = 2;
/// A call this short is made with all sets of a check shape; of longer ones two must do.
inline constexpr double kQuickCallUs = 10e3;
/// `too_slow` if a call takes longer: the many calls of timing would take minutes, ...
inline constexpr double kLongCallUs = 100e3;
/// ... and is so many times slower than the yardstick: no search needs its score.
inline constexpr double kHopeless = 1000;
/// A call of the task's own kernels on a GPU, as long as the yardstick's time is not known.
inline constexpr double kUnknownCallS = 60;
/// Wall time of a candidate's loads and calls: enough for honest calls of a second, ...
inline constexpr double kLeastAllowanceS = 30;
/// ... and for tasks whose calls may take long, a few of them.
inline constexpr double kAllowanceTimeouts = 3;

/// A timed shape's, at least: the check's, and a warm-up and a sample in each of a duel's three rounds.
inline constexpr std::size_t kLeastSets = kCheckSetsOfTimed + 6;

// Rounds, samples and batches.
/// A sample holds this much of the faster player's calls: the median of samples shorter than that does not
/// see what a kernel puts off to every eighth call.
inline constexpr double kSampleUs = 200;
/// A round's samples hold this much of the faster player's calls, ...
inline constexpr double kRoundUs = 1000;
/// ... and at least so many: loading costs as much as some of them.
inline constexpr std::size_t kSamplesOfRound = 4;
/// Lone samples of a round whose batches hold several calls: they bound what a batch may gain.
inline constexpr std::size_t kLoneOfRound = 8;
/// Calls by which the yardstick's time is known before it is timed beside anybody.
inline constexpr std::size_t kYardstickCalls = 3;

// Stopping.
/// Search: eight samples give a 95 % interval without their extremes, ...
inline constexpr std::size_t kLeastInSearch = 8;
/// ... of the width that is seen between runs anyway, ...
inline constexpr double kTargetInSearch = 0.015;
/// ... or after two turns. The sets are shared out to as many rounds.
inline constexpr std::size_t kRoundsInSearch = 4;
/// Search: whose interval ends below this needs no precision.
inline constexpr double kClearlyWorse = 0.7;
/// `evaluate` and confirmations: an interval clearly below what is seen between runs.
inline constexpr std::size_t kLeastWithCare = 16, kRoundsWithCare = 16;
inline constexpr double kTargetWithCare = 0.006;
/// The baseline is measured once and is a factor of every score. Its sets may come again.
inline constexpr std::size_t kLeastOfBaseline = 16, kRoundsOfBaseline = 8, kSamplesOfBaselineRound = 8;
/// Long calls: this much time at a shape is enough, with as many samples as make an interval.
inline constexpr double kEnoughUs = 3e6;
inline constexpr std::size_t kEnoughSamples = 8;

// Decisions.
/// A batch may seem this much faster than lone calls, beside chance: kernels find different things cold.
inline constexpr double kLoneMargin = 1.03;
/// No call takes less; keeps divisions finite.
inline constexpr double kLeastUs = 0.01;
/// No score is made of ratios this wide (relative half width) when the yardstick is as unsteady.
inline constexpr double kUnsteady = 0.3;

}  // namespace kernelsmith::judge
