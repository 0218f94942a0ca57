// The tasks of a suite: folders with a task.yaml, and KernelBench's problem files, below one folder.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// A task that was found in a suite's folder.
struct SuiteTask {
  std::string name;  ///< the path below the suite's folder, such as "level1/softmax" or "level2/3_Conv2d.py"
  unsigned level = 0;          ///< from the nearest parent folder named level1, level2, ...; else 0
  std::filesystem::path path;  ///< path for load_task_folder()

  /// The name without ".py". Names of candidates use it.
  std::string stem() const;
};

/// Finds all tasks down to three folders below `folder`. They are sorted by level, then by name; numbers in
/// names compare by value. A `.py` file is a problem if its folder is named level1, level2, ... Tasks are not
/// loaded. `levels` selects levels; if empty, all. Errors: `not_found` if the folder does not exist or has no
/// task, `permission` and `io`.
Result<std::vector<SuiteTask>> find_tasks(const std::filesystem::path& folder,
                                          const std::set<unsigned>& levels);

/// A strict weak order. Runs of digits compare by value, everything else by bytes.
bool naturally_less(std::string_view a, std::string_view b);

}  // namespace kernelsmith
