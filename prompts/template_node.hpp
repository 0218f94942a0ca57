// The parsed form of a template.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernelsmith::detail {

struct TemplateNode {
  enum class Kind {
    text,        ///< literal `text`
    line_start,  ///< the beginning of a line of the template: an indented partial writes its indentation here
    variable,    ///< the value named `text`
    section,     ///< `children` for each element of the value named `text`
    inverted,    ///< `children` if that value is false or empty
    partial,     ///< the template named `text`, each line indented by `indent`
  };

  Kind kind = Kind::text;
  std::string text;
  std::string indent;
  std::size_t line = 1;  ///< line in the template, for errors
  std::vector<TemplateNode> children;
};

}  // namespace kernelsmith::detail
