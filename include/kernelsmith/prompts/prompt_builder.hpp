// PromptBuilder: from what a proposer is asked to the text that a model is sent.
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

/// What an earlier run found out. A value.
struct PromptNote {
  std::string name;   ///< for Dropped
  std::string about;  ///< one line without a colon at its end: what it is and where it comes from
  std::string text;   ///< shown in a fence that it cannot close

  friend bool operator==(const PromptNote&, const PromptNote&) = default;
};

/// What a builder is made with. A value.
struct PromptOptions {
  /// The set that Operator::rewrite uses, and that every other operator's set falls back on: `kernel-smith`,
  /// `relaxed`, or a folder below `folder`.
  std::string set = "kernel-smith";
  std::filesystem::path
      folder;  ///< of the user: SET/NAME.mustache there come before the built-in ones; may be empty
  std::size_t budget_tokens = 24'000;  ///< for the whole prompt, as estimated; 0 is no limit
  std::size_t error_bytes = 6'000;     ///< of a report's text, its tail; a tight budget lowers it
  std::string hardware;                ///< what programs are timed on; empty: as the parent's report says
  std::string toolchain;               ///< likewise
  std::vector<SourceFile>
      interface;         ///< files that a candidate is built beside, such as the generated task.hpp
  std::string language;  ///< of candidates, in words; empty: as the file's name says
  std::string suffix;    ///< of a candidate's file, such as ".cu"; empty: as the reference has it
  /// What the backend says of the task: `task.NAME` in templates. They come before what every task has.
  std::map<std::string, std::string> texts;
  std::map<std::string, bool> conditions;
  std::vector<PromptNote> notes;  ///< of earlier runs, the most useful first
};

/// What was left out so that a prompt fits its budget.
struct Dropped {
  std::string what;        ///< such as "the inspiration 12"
  std::size_t tokens = 0;  ///< saved

  friend bool operator==(const Dropped&, const Dropped&) = default;
};

/// What is sent: a system message and a user message. Well-formed UTF-8.
struct Prompt {
  std::string system;
  std::string user;
  std::string set;               ///< the operator's set, such as "repair"
  Digest templates;              ///< PromptBuilder::templates()
  bool edits = false;            ///< asks for SEARCH/REPLACE edits; otherwise for whole files or blocks
  std::size_t tokens = 0;        ///< estimate_tokens() of both messages
  std::size_t notes = 0;         ///< of PromptOptions::notes so many are in it, from the first
  std::vector<Dropped> dropped;  ///< in the order in which they went, the least useful first

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

  /// The prompt for a request: the operator names the set, the selection fills it. If everything that may
  /// be dropped was dropped and `tokens` is still above the budget, the prompt is given as it is: it is the
  /// caller's to send or to refuse. Errors: `invalid_argument` for Operator::tune and for a missing parent
  /// (translate needs none), `bad_input` and `not_found` if a user's template includes what does not end
  /// or does not exist.
  Result<Prompt> build(const ProposalRequest& request) const;

  /// The digest of every template that it may use, the user's among them: equal digests and equal requests
  /// give equal prompts.
  Digest templates() const;

  /// The message that answers a model's reply in a conversation: what the evaluation of its program came to
  /// (template `feedback`). Errors: as build().
  Result<std::string> feedback(const IndividualPtr& attempt) const;
  /// The same for a reply from which no program could be taken.
  Result<std::string> feedback(const Refusal& refusal) const;

  /// What a reply to a translate request is laid into: the seed, or one empty file, candidate.cpp or as
  /// PromptOptions::suffix says.
  Source blank_candidate() const;

 private:
  struct Impl;
  explicit PromptBuilder(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// The sets that this build brings along.
std::vector<std::string> built_in_prompt_sets();

}  // namespace kernelsmith
