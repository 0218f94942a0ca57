// A YAML document as a plain tree with line numbers, without features that configuration does not need.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith::detail {

struct YamlEntry;

struct YamlNode {
  YamlKind kind = YamlKind::scalar;
  std::size_t line = 0;            ///< from 1
  std::string text;                ///< of a scalar
  bool quoted = false;             ///< a quoted scalar is a text, never a number
  bool null = false;               ///< a scalar without a value
  std::vector<YamlNode> items;     ///< of a list
  std::vector<YamlEntry> entries;  ///< of a mapping, in order
};

struct YamlEntry {
  std::string key;
  std::size_t line = 0;  ///< of the key, from 1
  YamlNode value;
};

/// Refuses the constructs listed in docs/formats.md; see read_yaml().
Result<YamlNode> parse_yaml(std::string_view text, const std::string& file);

struct YamlFault {
  std::size_t line = 0;  ///< from 1
  std::string message;
  std::string hint;
};

/// A bracket or quote that does not close, or closes nothing, or a tab that indents. Call it only for a text
/// that was refused: the texts in a well-formed one may contain such things.
std::optional<YamlFault> find_yaml_fault(std::string_view text);

/// The fault that yaml-cpp's message describes, at its line.
YamlFault yaml_fault(const std::string& library_message, std::size_t line);

}  // namespace kernelsmith::detail
