// The constants of judge and timing, with their reasons. Times are in microseconds unless the name says so.
#pragma once

#include <cstddef>

namespace kernelsmith::judge {

// The check.
/// How many sets of a timed shape only the check uses: the first call may make tables, the second is typical.
inline constexpr std::size_t kCheckSetsOfTimed = 2;
/// A call this short is made with all sets of a check shape, a longer one only with two.
inline constexpr double kQuickCallUs = 10e3;
/// A call is `too_slow` if it takes longer than this, because many such calls would take minutes, ...
inline constexpr double kLongCallUs = 100e3;
/// ... and if it is this many times slower than the yardstick, because no search needs its score.
inline constexpr double kHopeless = 1000;
/// The time limit of a call of the task's own kernels on a GPU while the yardstick's time is unknown.
inline constexpr double kUnknownCallS = 60;
/// A candidate's loads and calls may take this much wall time, enough for honest calls of a second, ...
inline constexpr double kLeastAllowanceS = 30;
/// ... or this many times a call's limit, if that is more.
inline constexpr double kAllowanceTimeouts = 3;

/// The minimum of sets for a timed shape: the check's, and a warm-up and a sample in each of a duel's three
/// rounds.
inline constexpr std::size_t kLeastSets = kCheckSetsOfTimed + 6;

// Rounds, samples and batches.
/// A sample contains this much time of the faster player's calls. The median of shorter samples would miss
/// work that a kernel defers to every eighth call.
inline constexpr double kSampleUs = 200;
/// A round's samples contain this much time of the faster player's calls, ...
inline constexpr double kRoundUs = 1000;
/// ... and a round has at least this many samples, because loading costs as much as some of them.
inline constexpr std::size_t kSamplesOfRound = 4;
/// Single-call samples of a round whose batches have several calls: they limit the gain of a batch.
inline constexpr std::size_t kLoneOfRound = 8;
/// Calls that estimate the yardstick's time before it is timed against others.
inline constexpr std::size_t kYardstickCalls = 3;

// Stopping.
/// In a search a shape gets at least this many samples. The 95 % interval of eight samples leaves out the
/// smallest and the largest.
inline constexpr std::size_t kLeastInSearch = 8;
/// An interval this narrow (relative half width) ends a shape's timing in a search, because runs vary as
/// much.
inline constexpr double kTargetInSearch = 0.015;
/// A search ends a shape's timing after this many rounds, which are two turns. The sets are divided among
/// them.
inline constexpr std::size_t kRoundsInSearch = 4;
/// In a search an interval that ends below this is precise enough.
inline constexpr double kClearlyWorse = 0.7;
/// `evaluate` and confirmations need an interval clearly narrower than the variation between runs.
inline constexpr std::size_t kLeastWithCare = 16, kRoundsWithCare = 16;
inline constexpr double kTargetWithCare = 0.006;
/// The baseline is measured once and is a factor of every score. Its sets may be reused.
inline constexpr std::size_t kLeastOfBaseline = 16, kRoundsOfBaseline = 8, kSamplesOfBaselineRound = 8;
/// A shape with long calls has enough samples after this much time, if there is the minimum for an interval.
inline constexpr double kEnoughUs = 3e6;
inline constexpr std::size_t kEnoughSamples = 8;

// Decisions.
/// Apart from noise, a batch's calls may be this much faster than single calls, because cold caches cost some
/// kernels more than others.
inline constexpr double kLoneMargin = 1.03;
/// The shortest time of a call, which keeps divisions finite.
inline constexpr double kLeastUs = 0.01;
/// A shape gets no score if its ratios scatter this much (relative half width) and the yardstick's times do,
/// too.
inline constexpr double kUnsteady = 0.3;

}  // namespace kernelsmith::judge
