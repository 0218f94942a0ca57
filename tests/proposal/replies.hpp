// Replies and what becomes of them, for the tests of extract().
#pragma once

#include <string>
#include <variant>

#include <kernelsmith/proposal/extract.hpp>

#include "sources.hpp"

namespace kernelsmith {

inline const std::string kStart = "// EVOLVE-BLOCK-START\n";
inline const std::string kEnd = "// EVOLVE-BLOCK-END\n";

inline std::string marked(const std::string& block) {
  return "head();\n" + kStart + block + kEnd + "tail();\n";
}
inline std::string fenced(const std::string& text, const std::string& info = "cpp") {
  return "```" + info + "\n" + text + "```\n";
}

/// The child's first text, or the refusal.
inline std::string outcome(const std::string& reply, const Source& parent,
                           ReplyForm form = ReplyForm::either) {
  const auto result = extract(reply, parent, form);
  if (const auto* refusal = std::get_if<Refusal>(&result)) {
    return std::string(name_of(refusal->code)) + ": " + refusal->detail;
  }
  return std::string(std::get<Source>(result).main_text());
}

}  // namespace kernelsmith
