// Which rules fit a task, and how a prompt shows them. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/memory/rule.hpp>

namespace kernelsmith {

/// What a task is compared by: the identifiers of its reference, its tensors' types, roles and ranks. Sorted,
/// without repeats.
std::vector<std::string> memory_terms(const Task& task);

/// What a run reads from a store: fixed once it is made, so that resume and replay do not depend on the
/// store.
struct MemorySnapshot {
  std::vector<MemoryRule> rules;  ///< the best first

  /// The digest of to_lines(rules).
  Digest digest() const;
};

/// The rules of `backend` that share rare terms with the task (cosine of TF-IDF vectors, times rank()), best
/// first, as many as memory_section() shows within `budget_tokens`. Expired ones are left out. Equal rules in
/// any order give an equal snapshot.
MemorySnapshot retrieve(const std::vector<MemoryRule>& rules, const std::string& backend,
                        const std::vector<std::string>& terms, std::size_t budget_tokens);

/// The part of a prompt: each rule in a fence that its text cannot close, with where it comes from. Empty if
/// there are no rules.
std::string memory_section(const MemorySnapshot& snapshot);

}  // namespace kernelsmith
