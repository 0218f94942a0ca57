// Extracts the linker's command line from the commands that the compiler's driver would run. The linker alone
// takes a fraction of the time of the driver's wrapper and plugin.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith::cpu {

/// The arguments of `ld`, without its own name, from the output of `g++ -### ...`. Each existing folder of
/// libraries is named once. Empty if the output cannot be parsed, or if the wrapper does more than call the
/// linker (another linker, link-time optimisation).
std::optional<std::vector<std::string>> link_line(std::string_view dry_run);

}  // namespace kernelsmith::cpu
