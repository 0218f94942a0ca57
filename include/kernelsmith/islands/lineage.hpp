// Lineage: the descent of all programs of a run, over all islands.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include <kernelsmith/core/program.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Inserts a number into an ascending list, unless it is already there.
void insert_sorted(std::vector<ProgramId>& programs, ProgramId one);

/// The edges from programs to their parents. They cannot form a cycle, because parents are known before their
/// children. Not thread-safe; the engine's committer owns it.
class Lineage {
 public:
  /// Refuses (`invalid_argument`) a program that is already known and a parent that is not.
  Status add(ProgramId program, std::vector<ProgramId> parents);

  bool contains(ProgramId program) const { return parents_.contains(program); }
  std::size_t size() const { return parents_.size(); }

  /// The parents. This function and those below throw std::out_of_range for an unknown program.
  const std::vector<ProgramId>& parents(ProgramId program) const { return parents_.at(program); }

  /// The programs that name this one as a parent, ascending.
  std::span<const ProgramId> children(ProgramId program) const;

  /// The path from this program to its seed, both included, along the first parents. It ends after `most`
  /// steps.
  std::vector<ProgramId> path_to_seed(ProgramId program,
                                      std::size_t most = std::numeric_limits<std::size_t>::max()) const;

 private:
  std::map<ProgramId, std::vector<ProgramId>> parents_;
  std::unordered_map<ProgramId, std::vector<ProgramId>> children_;  ///< only for programs that have children
};

}  // namespace kernelsmith
