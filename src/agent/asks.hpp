// An agent's requests from its workspace.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith::agent {

/// A request to evaluate a program, or to measure it again if `careful`.
struct AskEvaluate {
  Source source;
  std::vector<ProgramId> parents;  ///< empty: the request's parent
  bool careful = false;
};
struct AskConfirm {
  ProgramId program;
};
/// The answer: a program of the run, or a new one.
struct AskSubmit {
  std::variant<ProgramId, Source> program;
};
/// The agent's total cost so far.
struct AskReport {
  double usd = 0;
  std::uint64_t input_tokens = 0, output_tokens = 0;
};
struct AskBudget {};

using Ask = std::variant<AskEvaluate, AskConfirm, AskSubmit, AskReport, AskBudget>;

/// Parses an ask. Errors: `bad_input`, with the expected form.
Result<Ask> parse_ask(std::string_view json);

/// The answers, as JSON.
std::string answer_of(const Tried& tried, const Evaluation* confirmation);
std::string answer_of(const Error& error);
std::string answer_of(std::string_view text);

}  // namespace kernelsmith::agent
