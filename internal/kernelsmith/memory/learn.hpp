// What a run's journal teaches.
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

/// Where a journal comes from.
struct LearntFrom {
  std::string run;
  std::string task;  ///< the task's digest, as hexadecimal digits
  std::string backend;
  std::vector<std::string> terms;  ///< memory_terms()
  MemorySnapshot read = {};        ///< the rules that its prompts showed
  /// The reply that a program was taken from, if it was kept; may be empty.
  std::function<std::string(TicketId)> reply = {};
};

/// What a run teaches.
struct Learnt {
  std::vector<MemoryRule> rules;
  std::map<std::string, RuleUse> uses;  ///< of the rules that it read, by id
};

/// Reads the journal once. A child that was accepted after its parent was rejected gives a refusal (the
/// first 64 of a run); one that is better than all programs before it beyond the noise gives a tactic; an
/// identifier that several children brought in and none of them gained by gives a dead end. A tactic is
/// described by the first two sentences of its reply.
///
/// A tactic that the run read helped if a child that gained did at least half of it; a refusal, if one that
/// was accepted did. A dead end was of no help if a child brought it in all the same; otherwise nothing can
/// be said of it. A run that sent no prompt used no rule. The same journal gives the same. Errors: the
/// journal's.
Result<Learnt> learn(const Journal& journal, const LearntFrom& from);

}  // namespace kernelsmith
