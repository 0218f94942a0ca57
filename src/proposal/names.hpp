// What a program text defines and calls, by name: enough to tell a program from a part or an example of it.
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
  NameSet calls;      ///< what is called, or declared and not defined; members of something are left out
};

/// The names in `text`, which may be any excerpt of a program.
Names names_in(std::string_view text, Language language);

/// How many more brackets of all kinds the text opens than it closes.
long open_brackets(std::string_view text, Language language);

/// One that both sets hold; null if there is none.
const std::string* in_both(const NameSet& a, const NameSet& b);

NameSet without(const NameSet& a, const NameSet& b);

}  // namespace kernelsmith::detail
