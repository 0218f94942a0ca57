// Chooses which of a reply's fenced blocks is the program.
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

/// Whether a fence's tag names something other than a program, such as a shell, unless the file has that
/// ending.
bool is_no_program(const Fence& fence, const std::string& path);

/// Judges texts by one file of the parent.
class FenceChoice {
 public:
  FenceChoice(const Source& parent, const std::string& path);

  /// The last complete fence. A fence is complete if it has the markers or the frozen text of the file, or if
  /// it defines a function of the EVOLVE-BLOCKs and calls none that only another fence defines. Without such
  /// a fence: the last one that may be complete, else any, preferably in the candidate's language. A fence
  /// that equals the parent is used only if no other may be complete. `no_code` if the chosen fence is only a
  /// part and calls a function of another fence, because the program is then in both.
  std::variant<const Fence*, Refusal> best(const std::vector<const Fence*>& fences) const;

  /// Whether an unclosed fence is still a program: it defines a function of the EVOLVE-BLOCKs, and has no
  /// open bracket.
  bool is_whole(const Fence& fence) const;

  Language language() const { return language_; }

  /// Whether a fence is complete by itself, or possibly complete.
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
  std::optional<FrozenText> frozen_text_;  // the file's blocks
  std::string file_, block_;               // the file and its only block, without blanks and markers
  Names own_;                              // names in the blocks
  Names frozen_;                           // names in frozen text
};

}  // namespace kernelsmith::detail
