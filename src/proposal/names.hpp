// The names that a program text defines and calls: enough to distinguish a program from a part or an example.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <kernelsmith/code/lexer.hpp>

namespace kernelsmith::detail {

using NameSet = std::set<std::string, std::less<>>;

struct Names {
  NameSet functions;  ///< functions and types that the text defines, at any depth
  NameSet outer;      ///< functions, types and constants defined on lines that are not indented
  NameSet calls;      ///< called names, and declared but undefined ones; without members
};

/// The names in `text`, which may be any excerpt of a program.
Names names_in(std::string_view text, Language language);

/// How many more brackets of all kinds the text opens than it closes.
long open_brackets(std::string_view text, Language language);

/// A common element of both sets; null if there is none.
const std::string* in_both(const NameSet& a, const NameSet& b);

NameSet without(const NameSet& a, const NameSet& b);

}  // namespace kernelsmith::detail
