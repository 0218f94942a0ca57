// What this machine has and lacks, found out by trying each tool once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

enum class CheckStatus {
  ok,
  limited,  ///< kernelsmith works, with less speed or a lower tier
  missing,  ///< a part of kernelsmith does not work
};
std::string_view name_of(CheckStatus status);

struct MachineCheck {
  std::string name;  ///< such as "compiler"
  CheckStatus status = CheckStatus::ok;
  std::string detail;     ///< what was found
  std::string remedy;     ///< how to get what lacks; empty for `ok`
  bool required = false;  ///< no kernel can be searched for while it is missing
};

struct MachineReport {
  std::vector<MachineCheck> checks;
  std::string tier;  ///< of the scores measured here: "full", "weak" or "unsandboxed"

  /// False while a required check is missing.
  bool usable() const;
};

/// Tries compiler, sandbox, Python, run store, disk space (of `folder`, where runs would be written) and
/// cores. Takes about a second. Leaves nothing behind.
MachineReport examine_machine(const std::filesystem::path& folder);

/// Tries a task of the backend `cpu` on this machine: that its reference, baseline and seed compile and pass
/// their own check, and that its error budget tells the precision below the declared one from honest results.
/// Takes seconds. Other tasks have nothing to try. The seed's knobs are listed for every task.
std::vector<MachineCheck> examine_task(const Task& task);

/// The error budget alone: about a second.
std::vector<MachineCheck> examine_precision(const Task& task);

/// The knobs of the seed, and comments that nearly make one (`limited`).
std::vector<MachineCheck> examine_knobs(const Task& task);

}  // namespace kernelsmith
