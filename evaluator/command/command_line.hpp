// The command line of a command, and the paths in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// The values of the placeholders.
struct CommandPaths {
  std::filesystem::path candidate;  ///< "{candidate}": the candidate's first file
  std::filesystem::path answer;     ///< "{answer}": the file that the command writes
};

/// The folders of the system's programs, in and outside the sandbox; the host's PATH is ignored.
inline constexpr const char* kProgramPath = "/usr/local/bin:/usr/bin:/bin";

/// Fills in the placeholders of `command`.
std::vector<std::string> fill_in(const std::vector<std::string>& command, const CommandPaths& paths);

/// The absolute path of the program that `command` names. Errors: refused (a command without "{candidate}" or
/// "{answer}", or a program that is neither an absolute path nor a name), tool_missing.
Result<std::string> find_program(const std::vector<std::string>& command);

}  // namespace kernelsmith
