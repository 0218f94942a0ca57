#include <cstdio>

#include <kernelsmith/core/rejections.hpp>
#include <kernelsmith/prompts/turn.hpp>

#include "excerpt.hpp"

namespace kernelsmith {
namespace {

/// The most of a report or an advice: several turns of a compiler's words must leave room for replies.
constexpr std::size_t kMostBytes = 2000;

constexpr std::string_view kOpening =
    "Here is the server's feedback on your last implementation. Use it, and all your earlier replies, to "
    "improve the "
    "implementation.\n\nServer feedback (status, figures, errors):\n";

std::string_view request_for(TurnForm form) {
  switch (form) {
    case TurnForm::program:
      return "Think step by step. Then give the improved implementation in full, in one fenced code block.";
    case TurnForm::files:
      return "Think step by step. Then give every file that you change in full, each in a fenced code block "
             "whose first "
             "line names the file, as in the first message.";
    case TurnForm::edits:
      return "Think step by step. Then give SEARCH/REPLACE edits of your last readable program, each in the "
             "form\n"
             "<<<<<<< SEARCH\nlines of the program\n=======\nlines in their place\n>>>>>>> REPLACE";
  }
  return {};
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : detail::as_utf8(text)) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      result += code;
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Three digits: more would be noise.
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string truth(bool value) { return value ? "true" : "false"; }

}  // namespace

TurnVerdict turn_verdict(const Evaluation& evaluation) {
  TurnVerdict verdict;
  const Report& report = evaluation.report();
  verdict.advice = report.advice;
  if (const Rejection* rejection = evaluation.rejection()) {
    verdict.compiled = had_compiled(rejection->code);
    verdict.decoy = evades_measurement(rejection->code);
    verdict.code = name_of(rejection->code);
    verdict.message = rejection->diagnostics;
    return verdict;
  }
  const auto& features = evaluation.metrics()->features();
  verdict.compiled = verdict.correct = true;
  verdict.decoy = lacks_own_kernel(evaluation);
  verdict.over_baseline = report.speedup.has_value();
  verdict.speed = (report.speedup ? *report.speedup : evaluation.metrics()->fitness()).median;
  if (const auto share = features.find("own_share");
      share != features.end() && features.contains("own_kernels") && report.runtime_us)
    verdict.own_share = share->second;
  return verdict;
}

TurnVerdict turn_verdict(const Refusal& refusal) {
  TurnVerdict verdict;
  verdict.code = name_of(refusal.code);
  verdict.message = refusal.detail;
  return verdict;
}

std::string turn_message(const TurnVerdict& verdict, TurnForm form, std::string_view request) {
  // The names are KernelGYM's, in the order of its answers.
  std::string json = "{\n  \"status\": \"completed\"";
  const auto put = [&](std::string_view name, const std::string& value) {
    json += ",\n  \"" + std::string(name) + "\": " + value;
  };
  put("compiled", truth(verdict.compiled));
  put("correctness", truth(verdict.correct));
  put("decoy_kernel", truth(verdict.decoy));
  // The figure of a decoy says nothing about the model's own kernel.
  const bool honest = verdict.correct && !verdict.decoy;
  if (honest && verdict.speed) put(verdict.over_baseline ? "speedup" : "score", number(*verdict.speed));
  if (honest && verdict.own_share) put("custom_kernel_cuda_time_coverage", number(*verdict.own_share));
  if (!verdict.code.empty()) put("error_code", json_string(verdict.code));
  if (!verdict.message.empty())
    put("error_message", json_string(detail::tail_of(verdict.message, kMostBytes)));
  if (!verdict.advice.empty()) put("advice", json_string(detail::tail_of(verdict.advice, kMostBytes)));
  return std::string(kOpening) + json + "\n}\n\n" +
         std::string(request.empty() ? request_for(form) : request);
}

}  // namespace kernelsmith
