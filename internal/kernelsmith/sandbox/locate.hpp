// Where the programs and data are that belong to kernelsmith.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// The folder of the program or shared library that holds this code: for the Python module, its package.
std::filesystem::path own_folder();
/// The folder of this process's program.
std::filesystem::path program_folder();

/// The first of the places that is there and `usable`. Errors: tool_missing, that `what` is not found, with
/// the places.
Result<std::filesystem::path> locate(const std::vector<std::filesystem::path>& places,
                                     const std::function<bool(const std::filesystem::path&)>& usable,
                                     const std::string& what, const std::string& hint);

/// `given` if it is not empty; else the variable of the environment; else the program `name` in bin/ beside
/// the library that this code is in (a Python package); else beside this program; else in
/// ../libexec/kernelsmith of it; else where it was installed or built. Errors: tool_missing.
Result<std::filesystem::path> locate_program(const std::string& name, const char* variable,
                                             const std::filesystem::path& given = {});

}  // namespace kernelsmith
