// A record of a CSV file, as RFC 4180 writes it.
#pragma once

#include <string>
#include <vector>

namespace kernelsmith {

/// The cells with commas between them and a newline after them; cells are in quotes where it is required.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace kernelsmith
