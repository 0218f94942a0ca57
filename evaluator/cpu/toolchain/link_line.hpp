// The linker's command line, taken from what the compiler's driver says that it would run: the linker alone
// takes a fraction of the time that the driver's wrapper and its plugin take.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith::cpu {

/// The arguments of `ld`, without its own name, from the output of `g++ -### ...`, each folder of libraries
/// that exists named once; empty if they cannot be read, or if the wrapper does more than to call the
/// linker (another linker, link-time optimisation).
std::optional<std::vector<std::string>> link_line(std::string_view dry_run);

}  // namespace kernelsmith::cpu
