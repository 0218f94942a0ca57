// What a run's journal teaches.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/core/journal.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/memory/rule.hpp>

namespace kernelsmith {

/// Where a journal comes from.
struct LearntFrom {
  std::string run;
  std::string task;  ///< the task's digest, as hexadecimal digits
  std::string backend;
  std::vector<std::string> terms;  ///< memory_terms()
};

/// Reads the journal once. A child that was accepted after its parent was rejected gives a refusal; one that
/// is better than its parent beyond the noise gives a tactic; an identifier that several children brought in
/// and none of them gained by gives a dead end. The same journal gives the same rules. Errors: the journal's.
Result<std::vector<MemoryRule>> learn(const Journal& journal, const LearntFrom& from);

}  // namespace kernelsmith
