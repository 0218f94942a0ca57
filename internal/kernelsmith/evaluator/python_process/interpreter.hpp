// Finds a Python and our packages for it, and makes their paths visible in the sandbox.
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
  std::filesystem::path program;  ///< the path that it reports for itself, not a script that chooses a Python
  std::vector<std::filesystem::path> folders;  ///< folders that it reads: its own and those of its packages
};

/// The Python to use, and the message if it is missing.
struct InterpreterChoice {
  std::filesystem::path named;  ///< a program or its path; if empty, the variable's value, else python3 on
                                ///< the PATH
  std::string variable;         ///< name of the environment variable
  std::string user;             ///< "the torch backend"
  std::string hint;
};

/// Runs the Python once (30 ms). Errors: tool_missing.
Result<Interpreter> find_interpreter(const InterpreterChoice& choice);

/// One of our packages, with the places where it may be.
struct PackagePlace {
  std::string name;                 ///< "kernelsmith_torch"
  std::string variable;             ///< environment variable that names the folder with the package
  std::string data;                 ///< the package's folder in share/kernelsmith of an installation
  std::filesystem::path installed;  ///< the place for which the build configured that folder
  std::filesystem::path source;     ///< the folder in the source tree of this build
};

/// The folder that contains the package, for the search path. Errors: tool_missing.
Result<std::filesystem::path> find_package(const PackagePlace& place);

/// The folder of kernelsmith_process, which our programs share for messages and for ending processes.
Result<std::filesystem::path> find_shared_package();

/// The environment variables of this process.
std::map<std::string, std::string> own_environment();

/// Binds the folders that exist and are not bound yet. Python does not need all of /usr.
void add_folders(SandboxSpec& spec, const std::vector<std::filesystem::path>& folders);

/// The folders in the form that PYTHONPATH has.
std::string search_path(const std::vector<std::filesystem::path>& folders);

}  // namespace kernelsmith::python_process
