#include "asks.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include <kernelsmith/config/json.hpp>

namespace kernelsmith::agent {
namespace {

using Json = nlohmann::json;

Error refused(const std::string& why) {
  return fail(ErrorCode::bad_input, "this is no ask: " + why, "", "use tools/kernelsmith, or see README.md");
}

/// Throws Json::exception for what is of another type.
Result<Source> source_in(const Json& ask) {
  std::vector<SourceFile> files;
  for (const auto& [path, text] : ask.at("files").items()) files.push_back({path, text.get<std::string>()});
  if (files.empty()) return refused("it has no file");
  return Source::create(std::move(files));
}

Result<Ask> parsed(const Json& ask) {
  const std::string tool = ask.at("tool").get<std::string>();
  if (tool == "evaluate") {
    auto source = source_in(ask);
    if (!source) return source.error();
    AskEvaluate evaluate{std::move(*source), {}, ask.value("careful", false)};
    if (ask.contains("parent")) evaluate.parents.push_back({ask.at("parent").get<std::uint64_t>()});
    return evaluate;
  }
  if (tool == "confirm") return AskConfirm{{ask.at("program").get<std::uint64_t>()}};
  if (tool == "submit") {
    if (ask.contains("program")) return AskSubmit{ProgramId{ask.at("program").get<std::uint64_t>()}};
    auto source = source_in(ask);
    if (!source) return source.error();
    return AskSubmit{std::move(*source)};
  }
  if (tool == "report") {
    const AskReport report{ask.value("usd", 0.0), ask.value("input_tokens", std::uint64_t{0}),
                           ask.value("output_tokens", std::uint64_t{0})};
    if (!std::isfinite(report.usd) || report.usd < 0) return refused("usd is a number from 0 on");
    return report;
  }
  if (tool == "budget") return AskBudget{};
  return refused("the tools are evaluate, confirm, submit, report and budget");
}

}  // namespace

Result<Ask> parse_ask(std::string_view json) {
  try {
    return parsed(Json::parse(json));
  } catch (const Json::exception& wrong) {
    return refused(wrong.what());
  }
}

std::string answer_of(const Tried& tried, const Evaluation* confirmation) {
  Json answer{{"program", tried.program->id.value},
              {"known", tried.repeated},
              {"evaluation", Json::parse(to_json(tried.evaluation.without_artifacts()))}};
  if (confirmation) answer["confirmation"] = Json::parse(to_json(confirmation->without_artifacts()));
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string answer_of(const Error& error) {
  return Json{{"error", describe(error)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string answer_of(std::string_view text) {
  return Json{{"text", text}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kernelsmith::agent
