// PromptBuilder: makes the prompt for a model from a proposer's request.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// A finding of an earlier run. A value.
struct PromptNote {
  std::string name;   ///< the note's name in Dropped
  std::string about;  ///< one line without a final colon: what it is and its source
  std::string text;   ///< shown in a code fence; the text cannot close the fence

  friend bool operator==(const PromptNote&, const PromptNote&) = default;
};

/// Options of a builder. A value.
struct PromptOptions {
  /// The set for Operator::rewrite: `kernel-smith`, `relaxed`, or a folder below `folder`. The set of any
  /// other operator takes templates that it lacks from this set.
  std::string set = "kernel-smith";
  std::filesystem::path folder;        ///< folder with the user's templates SET/NAME.mustache, which replace
                                       ///< built-in ones; may be empty
  std::size_t budget_tokens = 24'000;  ///< estimated limit for the whole prompt; 0 is no limit
  std::size_t error_bytes = 6'000;     ///< how much of a report's end is shown; a tight budget lowers it
  std::string hardware;                ///< the hardware that times programs; if empty, the parent's report
                                       ///< names it
  std::string toolchain;               ///< compiler and flags; if empty, the parent's report names them
  std::vector<SourceFile>
      interface;         ///< files that a candidate is built with, such as the generated task.hpp
  std::string language;  ///< language of candidates, in words; if empty, the file's name decides
  std::string suffix;    ///< suffix of a candidate's file, such as ".cu"; if empty, the reference's
  /// The backend's values for the task: `task.NAME` in templates. They take precedence over values that all
  /// backends have.
  std::map<std::string, std::string> texts;
  std::map<std::string, bool> conditions;
  std::vector<PromptNote> notes;  ///< from earlier runs, the most useful first
};

/// A part that was dropped so that a prompt fits its budget.
struct Dropped {
  std::string what;        ///< such as "the inspiration 12"
  std::size_t tokens = 0;  ///< number of tokens saved

  friend bool operator==(const Dropped&, const Dropped&) = default;
};

/// The prompt: a system message and a user message. Well-formed UTF-8.
struct Prompt {
  std::string system;
  std::string user;
  std::string set;               ///< the operator's set, such as "repair"
  Digest templates;              ///< PromptBuilder::templates()
  bool edits = false;            ///< the prompt asks for SEARCH/REPLACE edits; otherwise for whole files or
                                 ///< blocks
  std::size_t tokens = 0;        ///< estimate_tokens() of both messages
  std::size_t notes = 0;         ///< the prompt has this many of PromptOptions::notes, from the first
  std::vector<Dropped> dropped;  ///< in the order in which they were dropped, the least useful first

  /// The digest of both messages.
  Digest digest() const;
};

/// Builds prompts for one task. Immutable; safe to share between threads.
class PromptBuilder {
 public:
  /// Reads and parses every template. Errors: `not_found` for a set or folder that does not exist,
  /// `bad_input` with file:line for a template that is malformed, `io` and `permission` for files that cannot
  /// be read.
  static Result<PromptBuilder> create(Task task, PromptOptions options = {});

  /// Builds the prompt for a request: the operator names the set of templates, and the selection fills it. If
  /// `tokens` is above the budget after everything was dropped that may be dropped, the prompt is returned
  /// anyway, and the caller decides whether to send it. Errors: `invalid_argument` for Operator::tune and for
  /// a missing parent (translate needs none), `bad_input` and `not_found` if a user's template includes
  /// itself endlessly or includes a missing template.
  Result<Prompt> build(const ProposalRequest& request) const;

  /// The digest of all templates that the builder may use, including the user's. Equal digests and equal
  /// requests give equal prompts.
  Digest templates() const;

  /// The source that a reply to a translate request fills in: the seed, or one empty file named `candidate`
  /// plus PromptOptions::suffix (.cpp by default).
  Source blank_candidate() const;

 private:
  struct Impl;
  explicit PromptBuilder(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// The built-in sets.
std::vector<std::string> built_in_prompt_sets();

}  // namespace kernelsmith
