// MemoryRule: what one run found out and a later one may use, with its evidence. docs/memory.md has the form.
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
  refusal,   ///< what a backend refuses, and what was accepted in its place
  tactic,    ///< a change that gained beyond the noise
  dead_end,  ///< what was tried several times and never gained
};

std::string_view name_of(RuleKind kind);
std::optional<RuleKind> rule_kind_from(std::string_view name);

/// The verdict that a rule rests on. `run` and `program` identify it.
struct Evidence {
  std::string run;                       ///< RunStore::run_id()
  std::uint64_t program = 0;             ///< whose verdict it is
  std::string task;                      ///< the task's digest, as hexadecimal digits
  std::string hardware;                  ///< as the report says
  std::optional<Measurement> gain = {};  ///< over the best program before it, above 1; tactics have it

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
  std::vector<std::string> terms;  ///< of the tasks where it was learnt; sorted, without repeats
  std::vector<Evidence> evidence;  ///< sorted by run and program, without repeats
  std::vector<RuleUse> uses;       ///< sorted by run, without repeats
  std::string about = {};          ///< what the model said of its change; may be empty; as `text`

  /// 16 hexadecimal digits of the digest of kind, backend and text.
  std::string id() const;
  /// How many of the runs that it was shown to it helped. One that found a tactic or a refusal again, as its
  /// own verdict proves, is among them whatever was noted.
  std::size_t helped() const;
  /// Whether it was shown to `kExpiresAfter` runs and helped none.
  bool expired() const;
  /// Its weight among rules that fit a task equally well, in (0, 1]: how often it helped.
  double rank() const;

  /// Puts its lists within the limits below: the first entries stay. Cut before or after a union, the result
  /// is the same.
  void trim();

  static constexpr std::size_t kExpiresAfter = 5;
  /// More would tell a prompt and the ranking nothing new, and a store would grow with each run.
  static constexpr std::size_t kMostVerdicts = 64, kMostVerdictsOfRun = 16, kMostUses = 1'000,
                               kMostTerms = 1'000;

  friend bool operator==(const MemoryRule&, const MemoryRule&) = default;
};

/// Adds what `other`, a rule with the same id, has and `rule` lacks, as far as the limits allow. Adding the
/// same twice changes nothing. A run that the rule helped by either was helped; of two descriptions the first
/// by bytes stays.
void add_to(MemoryRule& rule, const MemoryRule& other);

/// What it says, on one line: of a tactic the gain and the change, of a refusal what was refused.
std::string summary_of(const MemoryRule& rule);

/// One line without its end: sorted keys, no white space.
std::string to_line(const MemoryRule& rule);

/// Reads what to_line() writes, byte for byte, with lists of any length: earlier versions wrote such.
/// `bad_input` for anything else.
Result<MemoryRule> rule_from(std::string_view line);

/// All lines of a store or an export; `bad_input` names `where` and the line. Two lines may hold one id.
Result<std::vector<MemoryRule>> rules_from(std::string_view text, const std::string& where);

/// A line for each rule.
std::string to_lines(const std::vector<MemoryRule>& rules);

}  // namespace kernelsmith
