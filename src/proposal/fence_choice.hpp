// Which of a reply's fenced blocks is the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kernelsmith/code/lexer.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/source.hpp>

#include "fences.hpp"
#include "frozen_parts.hpp"
#include "names.hpp"

namespace kernelsmith::detail {

/// Whether a fence's tag names something else than a program, such as a shell. A file of that ending is one.
bool is_no_program(const Fence& fence, const std::string& path);

/// Judges texts by one file of the parent.
class FenceChoice {
 public:
  FenceChoice(const Source& parent, const std::string& path);

  /// The last block that is complete: it has the markers or the frozen text of the file, or defines a
  /// function that the file lets change, and calls none that only another block defines. Without one the last
  /// that may be complete, then any, in the candidate's language if there are such. A block that gives the
  /// parent as it is is taken if no other may be complete. `no_code` if what is left calls a function
  /// of another block: the program stands in both.
  std::variant<const Fence*, Refusal> best(const std::vector<const Fence*>& fences) const;

  /// Whether a fence without an end is a program all the same: it defines a function that the file lets
  /// change, and no bracket in it is open.
  bool is_whole(const Fence& fence) const;

  Language language() const { return language_; }

  /// Whether a fence is complete by itself, or may be so if nothing tells.
  bool may_be_program(const Fence& fence) const;

 private:
  enum class Grade { foreign, part, possible, complete };
  struct Candidate;

  Grade grade_of(const Candidate& candidate, const NameSet& of_others) const;
  bool has_frame(std::string_view text) const;
  bool speaks_otherwise(const Fence& fence) const;
  Candidate candidate_of(const Fence& fence) const;

  std::string path_;
  Language language_;
  std::optional<FrozenText> frozen_text_;  // where the file has blocks
  std::string file_, block_;               // without blanks and markers; `block_` of the only block
  Names own_;                              // of what may change
  Names frozen_;                           // of what may not
};

}  // namespace kernelsmith::detail
