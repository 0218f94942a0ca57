// What an agent asks for, as it comes out of its workspace.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith::agent {

/// Have a program evaluated, and measured again if `careful`.
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
/// What the agent has cost so far, in all.
struct AskReport {
  double usd = 0;
  std::uint64_t input_tokens = 0, output_tokens = 0;
};
struct AskBudget {};

using Ask = std::variant<AskEvaluate, AskConfirm, AskSubmit, AskReport, AskBudget>;

/// Errors: `bad_input`, which says what an ask is.
Result<Ask> parse_ask(std::string_view json);

/// The answers, as JSON.
std::string answer_of(const Tried& tried, const Evaluation* confirmation);
std::string answer_of(const Error& error);
std::string answer_of(std::string_view text);

}  // namespace kernelsmith::agent
