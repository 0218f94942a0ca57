// Where a Python and our packages for it are, and what a program of theirs sees.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/sandbox/spec.hpp>

namespace kernelsmith::python_process {

/// A Python. A value.
struct Interpreter {
  std::filesystem::path program;               ///< as it names itself: no script that chooses one
  std::vector<std::filesystem::path> folders;  ///< that it reads: its own, and those of its packages
};

/// Which Python, and what to say if there is none.
struct InterpreterChoice {
  std::filesystem::path named;  ///< a program or its path; empty: the variable's, else python3 on the PATH
  std::string variable;         ///< of the environment
  std::string user;             ///< "the torch backend"
  std::string hint;
};

/// Runs the Python once (30 ms). Errors: tool_missing.
Result<Interpreter> find_interpreter(const InterpreterChoice& choice);

/// A package of ours, by the places where it can be.
struct PackagePlace {
  std::string name;                 ///< "kernelsmith_torch"
  std::string variable;             ///< of the environment: names the folder that holds it
  std::string data;                 ///< its folder in share/kernelsmith of an installation
  std::filesystem::path installed;  ///< that folder, where it was built to be installed
  std::filesystem::path source;     ///< in the tree that this was built from
};

/// The folder that holds the package: it goes onto the search path. Errors: tool_missing.
Result<std::filesystem::path> find_package(const PackagePlace& place);

/// The folder of kernelsmith_process, which our programs share: messages, and the end of processes.
Result<std::filesystem::path> find_shared_package();

/// The variables of this process.
std::map<std::string, std::string> own_environment();

/// Binds the folders that exist and that no bind shows already. The whole of /usr is more than Python needs.
void add_folders(SandboxSpec& spec, const std::vector<std::filesystem::path>& folders);

/// As PYTHONPATH has them.
std::string search_path(const std::vector<std::filesystem::path>& folders);

}  // namespace kernelsmith::python_process
