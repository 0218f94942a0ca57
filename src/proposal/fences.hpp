// The fenced code blocks of a model's reply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/code/lexer.hpp>

namespace kernelsmith::detail {

/// A fenced block in the reply.
struct Fence {
  std::string info;    ///< the text after the opening fence
  std::string before;  ///< the last line with text before the fence
  std::string text;    ///< whole lines, each with its "\n"
  bool closed = false;
};

/// The language that a fence's tag names: "cpp", "triton", "kernel.py".
Language language_of_tag(const std::string& tag);

/// Follows a text line by line, and says whether the next line is inside a fenced block.
class FenceTracker {
 public:
  enum class Line { outside, opening, inside, closing };

  /// With `quoted`, fences within a docstring are code: Extract.FencesInADocstringEndNothing.
  explicit FenceTracker(bool quoted = false) : quoted_(quoted) {}

  /// Takes the next line and says what it is.
  Line pass(std::string_view line);
  bool inside() const { return !opening_.empty(); }

 private:
  std::string opening_;  // the line in the reply, without blanks around it
  bool quoted_;
  bool in_docstring_ = false;
};

/// The fences of ``` or ~~~, three or more, in order. Line ends may be CRLF; blanks before a fence are
/// removed from its lines too. A Markdown fence with fences inside is replaced by these. Fences and language
/// names around the code inside a fence are left out.
std::vector<Fence> find_fences(std::string_view reply);

/// Moves each fence that opens at the end of a line of prose or a list's item (`Here it is: ```cpp`) to its
/// own line. Such a line counts as a fence only if the next fence signs close it and then all fences are
/// closed. If necessary, does the same for fences that end after code (`}```).
std::string with_fences_on_own_lines(std::string_view reply);

/// The file that a fence's info string, the line before it or a comment in its first line names. The file is
/// one of `known`, or, outside the code, another word with the ending of a program. Empty if there is none.
std::string path_of(const Fence& fence, const std::vector<std::string>& known);

/// Whether the first line of a fence's text is only that path, or a comment with it.
bool names_in_first_line(std::string_view text, const std::string& path);

}  // namespace kernelsmith::detail
