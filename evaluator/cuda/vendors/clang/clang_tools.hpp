// Building with a compiler of clang's family: one run makes an object whose host half is linked and whose
// device images are a section of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <kernelsmith/core/result.hpp>

#include "vendors/clang/code_object.hpp"
#include "vendors/gpu_vendor.hpp"

namespace kernelsmith::cuda {

/// `front` is the compiler with what it always needs. It compiles `from`, a file of this language, to an
/// object `to`.
std::vector<std::string> clang_command(std::vector<std::string> front, const BuildSteps& steps,
                                       const std::string& from, const std::string& to);

/// The image in the object of a build. Errors: bad_input, io.
Result<std::vector<std::byte>> image_in_build(const ScratchFolder& folder, const CodeObjectFormat& format,
                                              const std::string& arch);

/// The compiler at `program`: what it says of its version. Errors: tool_failed, with `hint`.
Result<std::string> clang_version(const std::filesystem::path& program, const char* hint);

}  // namespace kernelsmith::cuda
