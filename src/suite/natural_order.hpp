// Natural order of names: 3_x before 10_x.
#pragma once

#include <string_view>

namespace kernelsmith::suite {

/// A strict weak order. Runs of digits compare by value, everything else by bytes.
bool naturally_less(std::string_view a, std::string_view b);

}  // namespace kernelsmith::suite
