// Where things are for a command, and its command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// What the placeholders stand for.
struct CommandPaths {
  std::filesystem::path candidate;  ///< "{candidate}": the candidate's first file
  std::filesystem::path answer;     ///< "{answer}": the file that the command writes
};

/// The folders of the system's programs, in and outside the sandbox: the host's PATH has no say.
inline constexpr const char* kProgramPath = "/usr/local/bin:/usr/bin:/bin";

/// `command` with its placeholders filled in.
std::vector<std::string> fill_in(const std::vector<std::string>& command, const CommandPaths& paths);

/// The absolute path of the program that `command` names. Errors: refused (a command without "{candidate}" or
/// "{answer}", or a program that is no absolute path and no name), tool_missing.
Result<std::string> find_program(const std::vector<std::string>& command);

}  // namespace kernelsmith
