// What this machine and a task have and lack, found out by trying each thing once.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>

namespace kernelsmith {

/// What the doctor found.
struct MachineReport {
  std::vector<MachineCheck> checks;
  std::string tier;  ///< of the scores measured here: "full", "weak" or "unsandboxed"

  /// False while a required check is missing.
  bool usable() const;
};

/// Tries what the backends need, the sandbox, the run store, disk space (of `folder`, where runs would be
/// written) and cores. Takes about a second. Leaves nothing behind.
MachineReport examine_machine(const std::filesystem::path& folder, const Backends& backends);

/// Tries a task as its backend does: that its files compile and pass, and where something could be left out
/// unnoticed. Takes seconds. The seed's knobs are listed for every task.
std::vector<MachineCheck> examine_task(const Task& task, const Backends& backends);

/// Where something could be left out of the task unnoticed: about a second. Empty if the backend cannot
/// say.
std::vector<MachineCheck> examine_precision(const Task& task, const Backends& backends);

/// The knobs of the seed, and comments that nearly make one (`limited`).
std::vector<MachineCheck> examine_knobs(const Task& task);

}  // namespace kernelsmith
