// Finds a Python and our packages for it, and sets up their paths in the sandbox.
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
  std::filesystem::path program;  ///< its own name for itself, not a script that chooses a Python
  std::vector<std::filesystem::path> folders;  ///< folders that it reads: its own and those of its packages
};

/// The Python to use, and the message if it is missing.
struct InterpreterChoice {
  std::filesystem::path named;  ///< a program or its path; empty: the variable's, else python3 on the PATH
  std::string variable;         ///< name of the environment variable
  std::string user;             ///< "the torch backend"
  std::string hint;
};

/// Runs the Python once (30 ms). Errors: tool_missing.
Result<Interpreter> find_interpreter(const InterpreterChoice& choice);

/// One of our packages, with the places where it may be.
struct PackagePlace {
  std::string name;                 ///< "kernelsmith_torch"
  std::string variable;             ///< environment variable with the folder that contains it
  std::string data;                 ///< its folder in share/kernelsmith of an installation
  std::filesystem::path installed;  ///< that folder, where it was built to be installed
  std::filesystem::path source;     ///< in the source tree of this build
};

/// The folder that contains the package, for the search path. Errors: tool_missing.
Result<std::filesystem::path> find_package(const PackagePlace& place);

/// The folder of kernelsmith_process, which our programs share for messages and for ending processes.
Result<std::filesystem::path> find_shared_package();

/// The variables of this process.
std::map<std::string, std::string> own_environment();

/// Binds existing folders that are not bound yet. Binding all of /usr would be more than Python needs.
void add_folders(SandboxSpec& spec, const std::vector<std::filesystem::path>& folders);

/// The folders in the form of PYTHONPATH.
std::string search_path(const std::vector<std::filesystem::path>& folders);

}  // namespace kernelsmith::python_process
