// The names that templates can use, filled from a task and a selection (docs/prompts.md lists them).
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/prompts/value.hpp>

#include "tried_lines.hpp"

namespace kernelsmith::detail {

/// The shown parts of a request. A budget reduces them.
struct Shown {
  IndividualPtr parent;   ///< null for a translation without an attempt
  IndividualPtr partner;  ///< the second parent of a crossover; else null
  std::vector<IndividualPtr> top, inspirations, failures;
  std::vector<Tried> tried;
  bool reference = true;
  std::size_t notes = 0;        ///< of PromptOptions::notes, from the first
  std::size_t error_bytes = 0;  ///< bytes of the parent's report; a failure's report gets a quarter
};

/// Everything in the request.
Shown everything(const ProposalRequest& request, const PromptOptions& options);

/// The seed, or one empty file in the candidates' language.
Source blank_candidate(const Task& task, const PromptOptions& options);

/// The data for the templates.
Value prompt_data(const Task& task, const PromptOptions& options, const Shown& shown);

}  // namespace kernelsmith::detail
