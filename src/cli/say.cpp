#include "say.hpp"

#include <string>

#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::cli {

void put(std::FILE* stream, std::string_view text) {
  const std::string shown = escape_controls(text);
  std::fwrite(shown.data(), 1, shown.size(), stream);
}

}  // namespace kernelsmith::cli
