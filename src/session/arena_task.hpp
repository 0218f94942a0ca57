// The texts of a torch task for the workloads of a definition.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/session/arenas.hpp>

#include "arena_schema.hpp"

namespace kernelsmith::arena {

/// A workload that a task can have.
struct Use {
  const Workload* workload = nullptr;
  Axes axes = {};
  std::map<std::string, std::string, std::less<>> files = {};  ///< of inputs from safetensors, by input
};

struct Problem {
  Arena arena;
  const Definition& definition;
  std::vector<Use> uses = {};           ///< at least one; they make their inputs in the same ways
  std::vector<SourceFile> values = {};  ///< the files of `uses`
  std::vector<std::string> notes = {};  ///< what was left out
};

/// Refuses a definition that no workload makes a task. Errors: unsupported, bad_input.
Status check_definition(const Definition& definition);

/// The workload without its values. Errors: unsupported for what a torch task cannot hold; bad_input.
Result<Use> use_of(const Definition& definition, const Workload& workload);

/// Whether both make every input in the same way.
bool are_alike(const Definition& definition, const Workload& one, const Workload& other);

/// How the workload makes the input.
Given given_for(const Workload& workload, const std::string& input);

/// task.yaml, reference.py and the values. `chosen` stays empty.
ArenaTask write_arena_task(const Problem& problem);

}  // namespace kernelsmith::arena
