// Learns rules from a run's journal.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <kernelsmith/core/journal.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/memory/retrieval.hpp>
#include <kernelsmith/memory/rule.hpp>

namespace kernelsmith {

/// The source of a journal.
struct LearntFrom {
  std::string run;
  std::string task;  ///< the task's digest in hexadecimal digits
  std::string backend;
  std::vector<std::string> terms;  ///< memory_terms()
  MemorySnapshot read = {};        ///< the rules in its prompts
  /// Returns the kept reply of a program, if any; may be empty.
  std::function<std::string(TicketId)> reply = {};
};

/// The rules that a run teaches.
struct Learnt {
  std::vector<MemoryRule> rules;
  std::map<std::string, RuleUse> uses;  ///< uses of the rules that the run read, by id
};

/// Reads the journal once. An accepted child of a rejected parent gives a refusal (the first 64 of a run). A
/// child that is better than all earlier programs beyond the noise gives a tactic. The first two sentences of
/// the reply describe a tactic.
///
/// A tactic that the run read helped if a child with a gain has at least half of its terms. A refusal helped
/// if an accepted child has at least half of its terms. A run without prompts used no rules. The result
/// depends only on the journal. Errors: the journal's.
Result<Learnt> learn(const Journal& journal, const LearntFrom& from);

}  // namespace kernelsmith
