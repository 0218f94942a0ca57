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

/// The terms by which tasks are compared: the identifiers of the reference (if there is none, of the seed),
/// and the types, roles and ranks of tensors. The list is sorted, without duplicates, and has at most
/// `MemoryRule::kMostTerms` terms. Identifiers have at most 100 bytes.
std::vector<std::string> memory_terms(const Task& task);

/// The rules that a run reads from a store. The snapshot is fixed, so that resume and replay do not depend on
/// the store.
struct MemorySnapshot {
  std::vector<MemoryRule> rules;  ///< the best first

  /// The limit that retrieve() keeps, so that the run folder's copy can be read again.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  /// The digest of to_lines(rules).
  Digest digest() const;
};

/// The rules of `backend` that share rare terms with the task, best first. They are sorted by the cosine of
/// TF-IDF vectors times rank(); for tactics, also times the share of time that they certainly saved. Each
/// kind of rule has half of `budget_tokens`. There are at most `kMostTactics` tactics, no expired rules, and
/// no dead ends. The order of `rules` does not matter.
MemorySnapshot retrieve(const std::vector<MemoryRule>& rules, const std::string& backend,
                        const std::vector<std::string>& terms, std::size_t budget_tokens);

/// If a tactic does not help in another task, each run that tries it loses an evaluation. Two such tactics
/// cost at most 2 % of a search with a hundred evaluations.
inline constexpr std::size_t kMostTactics = 2;

/// The rules as notes for prompts, with their sources.
std::vector<PromptNote> notes_of(const MemorySnapshot& snapshot);

}  // namespace kernelsmith
