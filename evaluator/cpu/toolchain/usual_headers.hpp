// The standard headers that a candidate begins with: what may be read before it in precompiled form without
// changing its meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith::cpu {

/// The costly standard headers that `text` includes before anything but comments, other includes of standard
/// headers and of the generated "task.hpp", sorted, none twice. Behind a macro, a pragma or a first line of
/// code a header could mean something else, so nothing of what follows is taken.
std::vector<std::string> leading_usual_headers(std::string_view text);

}  // namespace kernelsmith::cpu
