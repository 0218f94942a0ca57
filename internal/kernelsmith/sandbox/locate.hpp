// Finds kernelsmith's own programs and data.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// The folder of the program or shared library that contains this code. For the Python module it is the
/// package.
std::filesystem::path own_folder();
/// The folder of this process's program.
std::filesystem::path program_folder();

/// The first of the places that exists and is `usable`. Errors: tool_missing, with a message that `what` was
/// not found, and the places.
Result<std::filesystem::path> locate(const std::vector<std::filesystem::path>& places,
                                     const std::function<bool(const std::filesystem::path&)>& usable,
                                     const std::string& what, const std::string& hint);

/// The path of a program of kernelsmith. It is `given` if that is not empty; else the environment variable's
/// value; else the program `name` in the first of these places: bin/ beside the library that contains this
/// code (in a Python package), this program's folder, ../libexec/kernelsmith relative to that folder, and
/// where it was installed or built. Errors: tool_missing.
Result<std::filesystem::path> locate_program(const std::string& name, const char* variable,
                                             const std::filesystem::path& given = {});

}  // namespace kernelsmith
