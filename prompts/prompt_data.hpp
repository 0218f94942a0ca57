// The values for the names that templates can use, made from a task and a selection (docs/prompts.md lists
// the names).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/prompts/value.hpp>

namespace kernelsmith::detail {

/// A step between two accepted programs: `with` had the lines; `without` does not have them and is better
/// beyond the noise.
struct Tried {
  IndividualPtr with, without;
  std::vector<std::string> lines;
};

/// The steps among a parent's kin (Selection::kin) whose lines the parent does not have: lines that an
/// ancestor had and its child removed, and lines that another child of the parent added. There are at most a
/// handful, the nearest first. A step that changed many lines says nothing about a single line and is left
/// out.
std::vector<Tried> tried_lines(const IndividualPtr& parent, const std::vector<IndividualPtr>& kin);

/// The parts of a request that are shown. A budget may remove some.
struct Shown {
  IndividualPtr parent;   ///< null for a translation without an attempt
  IndividualPtr partner;  ///< the second parent of a crossover; else null
  std::vector<IndividualPtr> top, inspirations, failures;
  std::vector<Tried> tried;
  bool reference = true;
  std::size_t notes = 0;        ///< this many of PromptOptions::notes, from the first
  std::size_t error_bytes = 0;  ///< bytes of the parent's report; a failure's report gets a quarter
};

/// Everything in the request.
Shown everything(const ProposalRequest& request, const PromptOptions& options);

/// The seed, or one empty file in the candidates' language.
Source blank_candidate(const Task& task, const PromptOptions& options);

/// The data for the templates.
Value prompt_data(const Task& task, const PromptOptions& options, const Shown& shown);

}  // namespace kernelsmith::detail
