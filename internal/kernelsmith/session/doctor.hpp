// Checks this machine and a task by trying each thing once.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

namespace kernelsmith {

/// What a backend lacks on this machine.
struct BackendReport {
  std::string name;
  std::vector<std::string> missing;  ///< names of checks; empty if it can evaluate candidates here
};

/// The doctor's findings.
struct MachineReport {
  std::vector<MachineCheck> checks;
  std::vector<BackendReport> backends;  ///< by name
  std::string tier;  ///< the tier of scores that are measured here: "full", "weak" or "unsandboxed"

  /// False while a required check is missing.
  bool usable() const;
};

/// Checks what the backends need, the sandbox, the run store, cores, and the disk space of `folder`, where
/// runs would be written. Takes about a second. Leaves nothing behind.
MachineReport examine_machine(const std::filesystem::path& folder, const Backends& backends);

/// Checks a task with its backend: whether its files compile and pass, and what a candidate could leave out
/// without being caught. Also lists the seed's knobs. Takes seconds.
std::vector<MachineCheck> examine_task(const Task& task, const Backends& backends);

/// Finds what a candidate could leave out without being caught. Takes about a second. Empty if the backend
/// cannot check it.
std::vector<MachineCheck> examine_precision(const Task& task, const Backends& backends);

/// The knobs of the seed, and comments that look like misspelt knobs (`limited`).
std::vector<MachineCheck> examine_knobs(const Task& task);

}  // namespace kernelsmith
