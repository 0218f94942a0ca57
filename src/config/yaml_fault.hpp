// Why a text is no YAML, in words for its author. Private to config.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith::detail {

struct YamlFault {
  std::size_t line = 0;  ///< from 1
  std::string message;
  std::string hint;
};

/// A bracket or quote that does not close, or closes nothing, or a tab that indents. Only for a text that was
/// refused: a well-formed one may have something of the kind within its texts.
std::optional<YamlFault> find_yaml_fault(std::string_view text);

/// What yaml-cpp's message says, at its line.
YamlFault yaml_fault(const std::string& library_message, std::size_t line);

}  // namespace kernelsmith::detail
