// Selects the rules that fit a task, and formats them for a prompt. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/memory/rule.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>

namespace kernelsmith {

/// The terms by which tasks are compared: the identifiers of the reference (or else the seed), and types,
/// roles and ranks of tensors. Sorted, without duplicates; names have at most 100 bytes. At most
/// `MemoryRule::kMostTerms`.
std::vector<std::string> memory_terms(const Task& task);

/// The rules that a run reads from a store. The snapshot is fixed, so that resume and replay do not depend on
/// the store.
struct MemorySnapshot {
  std::vector<MemoryRule> rules;  ///< the best first

  /// The limit of retrieve(), so that the run folder's copy can be read again.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  /// The digest of to_lines(rules).
  Digest digest() const;
};

/// The rules of `backend` that share rare terms with the task (cosine of TF-IDF vectors, times rank(), and
/// for tactics times the share of time that they saved at least), best first. Each kind has a third of
/// `budget_tokens`, so that many short dead ends leave room for tactics. There are at most `kMostTactics`;
/// expired rules are left out. The order of `rules` does not matter.
MemorySnapshot retrieve(const std::vector<MemoryRule>& rules, const std::string& backend,
                        const std::vector<std::string>& terms, std::size_t budget_tokens);

/// A tactic that does not transfer costs each run that tries it an evaluation. Two of them are at most 2 % of
/// a search of a hundred evaluations.
inline constexpr std::size_t kMostTactics = 2;

/// The rules as notes for prompts, with their sources.
std::vector<PromptNote> notes_of(const MemorySnapshot& snapshot);

}  // namespace kernelsmith
