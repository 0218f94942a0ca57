// MemoryRule: a finding of one run for later runs, with its evidence. docs/memory.md has the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/metrics.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

enum class RuleKind {
  refusal,   ///< a construct that a backend refuses, and an accepted replacement
  tactic,    ///< a change that gained beyond the noise
  dead_end,  ///< only in stores and runs of earlier versions: no run learns it or is shown it any more
};

std::string_view name_of(RuleKind kind);
std::optional<RuleKind> rule_kind_from(std::string_view name);

/// The verdict that a rule rests on. `run` and `program` identify it.
struct Evidence {
  std::string run;                       ///< RunStore::run_id()
  std::uint64_t program = 0;             ///< the program with the verdict
  std::string task;                      ///< the task's digest in hexadecimal digits
  std::string hardware;                  ///< the hardware that the report names
  std::optional<Measurement> gain = {};  ///< only for tactics: the gain over the best program before it,
                                         ///< above 1

  friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// A run that was shown the rule.
struct RuleUse {
  std::string run;
  bool helped = false;

  friend bool operator==(const RuleUse&, const RuleUse&) = default;
};

/// A rule. Its texts come from models and compilers: data, never instructions.
struct MemoryRule {
  RuleKind kind = RuleKind::tactic;
  std::string backend;
  std::string text;                ///< valid UTF-8 without control characters but newline and tab
  std::vector<std::string> terms;  ///< terms of the tasks where it was learnt; sorted, without duplicates
  std::vector<Evidence> evidence;  ///< sorted by run and program, without repeats
  std::vector<RuleUse> uses;       ///< sorted by run, without repeats
  std::string about = {};          ///< the model's description of its change; may be empty; like `text`

  /// 16 hexadecimal digits of the digest of kind, backend and text.
  std::string id() const;
  /// The number of runs that saw the rule and were helped by it. A run whose own verdict confirmed a tactic
  /// or a refusal always counts.
  std::size_t helped() const;
  /// Whether it was shown to `kExpiresAfter` runs and helped none.
  bool expired() const;
  /// Its weight, in (0, 1], among rules that fit a task equally well. It depends on how often the rule
  /// helped.
  double rank() const;

  /// Cuts its lists to the limits below, keeping the first entries. The result is the same before and after a
  /// union.
  void trim();

  static constexpr std::size_t kExpiresAfter = 5;
  /// More than this would not help a prompt or the ranking, and the store would grow with each run.
  static constexpr std::size_t kMostVerdicts = 64, kMostVerdictsOfRun = 16, kMostUses = 1'000,
                               kMostTerms = 1'000;

  friend bool operator==(const MemoryRule&, const MemoryRule&) = default;
};

/// Merges `other`, a rule with the same id, into `rule`, within the limits. Merging the same rule twice
/// changes nothing. A run counts as helped if either rule says so. The description that sorts first by bytes
/// is kept.
void add_to(MemoryRule& rule, const MemoryRule& other);

/// The rule as one line: a tactic's gain and change, or the refused construct.
std::string summary_of(const MemoryRule& rule);

/// The rule as one line without a newline: sorted keys, no white space.
std::string to_line(const MemoryRule& rule);

/// Reads exactly what to_line() writes, but accepts lists of any length, because earlier versions wrote
/// longer ones. Anything else is `bad_input`.
Result<MemoryRule> rule_from(std::string_view line);

/// Reads all lines of a store or an export. Errors: `bad_input`, which names `where` and the line. Two lines
/// may have the same id.
Result<std::vector<MemoryRule>> rules_from(std::string_view text, const std::string& where);

/// Writes a line for each rule.
std::string to_lines(const std::vector<MemoryRule>& rules);

}  // namespace kernelsmith
