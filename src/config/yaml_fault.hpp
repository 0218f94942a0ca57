// Explains to the author why a text is not valid YAML. Private to config.
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

/// A bracket or quote that does not close, or closes nothing, or a tab that indents. Only for a refused text:
/// a well-formed one may contain these within strings.
std::optional<YamlFault> find_yaml_fault(std::string_view text);

/// An explanation of yaml-cpp's message, at its line.
YamlFault yaml_fault(const std::string& library_message, std::size_t line);

}  // namespace kernelsmith::detail
