// Which rules fit a task, and as what a prompt shows them. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/memory/rule.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>

namespace kernelsmith {

/// What a task is compared by: the identifiers of its reference (of its seed if it has none), its tensors'
/// types, roles and ranks. Sorted, without repeats; no name of more than 100 bytes, and at most
/// `MemoryRule::kMostTerms`.
std::vector<std::string> memory_terms(const Task& task);

/// What a run reads from a store: fixed once it is made, so that resume and replay do not depend on the
/// store.
struct MemorySnapshot {
  std::vector<MemoryRule> rules;  ///< the best first

  /// retrieve() takes no more than can be read again from the run folder.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  /// The digest of to_lines(rules).
  Digest digest() const;
};

/// The rules of `backend` that share rare terms with the task (cosine of TF-IDF vectors, times rank(), and
/// for tactics times the share of the time that they saved at least), best first. Each kind has a third of
/// `budget_tokens`, so that many short dead ends leave room for tactics; there are at most `kMostTactics`,
/// and no expired rule. Equal rules in any order give an equal snapshot.
MemorySnapshot retrieve(const std::vector<MemoryRule>& rules, const std::string& backend,
                        const std::vector<std::string>& terms, std::size_t budget_tokens);

/// A tactic that does not transfer costs each run that tries it an evaluation. Two are at most 2 % of a
/// search of a hundred.
inline constexpr std::size_t kMostTactics = 2;

/// The rules as prompts show them, with where they come from.
std::vector<PromptNote> notes_of(const MemorySnapshot& snapshot);

}  // namespace kernelsmith
