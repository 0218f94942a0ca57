// Finds the standard headers at the beginning of a candidate, which can be precompiled without changing its
// meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith::cpu {

/// The expensive standard headers that `text` includes at its beginning, sorted, without duplicates. Only
/// comments and includes of standard headers and of the generated "task.hpp" may come before them. After a
/// macro, a pragma or a line of code a header could have another meaning, so later ones are not used.
std::vector<std::string> leading_usual_headers(std::string_view text);

}  // namespace kernelsmith::cpu
