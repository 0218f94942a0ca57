// ProgramDiff: compares two programs of a run: text, plan, features and times.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith {

/// The child's speed divided by its parent's (above 1 is faster), from two measurements with the same
/// yardstick. The interval is the widest that both allow: from low / high to high / low. Empty if one of them
/// has no such measurement (a rejected program, or a task of `command` or `python`) or one that is not a
/// positive number. Pure.
std::optional<Measurement> gain_over(const Report& parent, const Report& child);

/// What changed in one EVOLVE-BLOCK.
struct BlockDiff {
  std::string file;
  std::size_t block = 0;  ///< its number, from 1 in the order of the source; 0 is the whole file
  std::string diff;       ///< a unified diff, with lines counted from the block's beginning
};

/// The differing launches of one kernel, from the artifact kernels.txt, without the kernel's name.
struct KernelDiff {
  std::string kernel;
  std::vector<std::string> a, b;  ///< empty if that program does not launch the kernel
};

struct ShapeTimes {
  std::string shape;
  std::optional<Measurement> a, b;                  ///< of one call
  std::optional<Measurement> speedup_a, speedup_b;  ///< over the baseline

  /// The speed of `b` relative to `a`, with its interval. Empty if one of them was not timed. Uses the
  /// speedups if both have one: a speedup is relative to a yardstick, while the times were measured at
  /// different moments.
  std::optional<Measurement> ratio() const;
};

struct ProgramDiff {
  IndividualPtr a, b;
  std::vector<BlockDiff> source;
  std::vector<KernelDiff> kernels;
  std::string plan;                 ///< a unified diff of the artifacts plan.txt
  std::optional<Measurement> gain;  ///< the speed of `b` relative to `a`: gain_over()
  /// Knobs that differ, with their values in both sources.
  std::map<std::string, std::pair<std::optional<std::string>, std::optional<std::string>>> knobs;
  /// Features that differ, with both values. Features of knobs are left out, because they are only places on
  /// the archive's axes.
  std::map<std::string, std::pair<std::optional<double>, std::optional<double>>> features;
  std::vector<ShapeTimes> shapes;    ///< shapes at which at least one of the two was timed
  std::vector<std::string> missing;  ///< a sentence for each item that the run does not have
};

/// Logs of the evaluation by name.
using Logs = std::map<std::string, std::string>;

/// The difference from `a` to `b`. Pure.
ProgramDiff diff_of(IndividualPtr a, const Logs& logs_a, IndividualPtr b, const Logs& logs_b);

/// The difference of two programs of a stored run, with the logs of their evaluations. Errors: `not_found` if
/// the run has no such program, the store's.
Result<ProgramDiff> diff_programs(const RunView& view, ProgramId a, ProgramId b);

/// The object of `diff --json` (docs/formats.md).
std::string diff_json(const ProgramDiff& diff);

}  // namespace kernelsmith
