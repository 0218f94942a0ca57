#include "command_line.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <unistd.h>

namespace kernelsmith {

namespace {

constexpr std::string_view kCandidate = "{candidate}";
constexpr std::string_view kAnswer = "{answer}";

std::string replace_all(std::string text, std::string_view what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

Status require(const std::vector<std::string>& command, std::string_view placeholder) {
  const auto holds = [&](const std::string& argument) {
    return argument.find(placeholder) != std::string::npos;
  };
  if (std::any_of(command.begin(), command.end(), holds)) return {};
  return fail(ErrorCode::refused, "the command has no argument " + std::string(placeholder),
              "task.yaml: command", R"(such as: command: [python3, evaluate.py, "{candidate}", "{answer}"])");
}

}  // namespace

std::vector<std::string> fill_in(const std::vector<std::string>& command, const CommandPaths& paths) {
  std::vector<std::string> filled;
  for (const std::string& argument : command)
    filled.push_back(replace_all(replace_all(argument, kCandidate, paths.candidate.string()), kAnswer,
                                 paths.answer.string()));
  return filled;
}

Result<std::string> find_program(const std::vector<std::string>& command) {
  if (Status has = require(command, kCandidate); !has) return has.error();
  if (Status has = require(command, kAnswer); !has) return has.error();
  const std::string& name = command.front();
  if (name.find('/') != std::string::npos) {
    if (name.front() != '/')
      return fail(ErrorCode::refused, "the command's program must be an absolute path or a name", name,
                  "run a script of the task through its interpreter: [python3, " + name + ", ...]");
    if (::access(name.c_str(), X_OK) == 0) return name;
  } else {
    std::istringstream folders(kProgramPath);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string path = folder + "/" + name;
      if (::access(path.c_str(), X_OK) == 0) return path;
    }
  }
  return fail(ErrorCode::tool_missing, "the task's program is not installed", name,
              std::string("install it in one of these folders: ") + kProgramPath);
}

}  // namespace kernelsmith
