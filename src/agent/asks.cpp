#include "asks.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith::agent {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestReason = 300;
constexpr std::size_t kMostProgramBytes = std::size_t{256} << 10;  // as in kernelsmith mcp
constexpr std::uint64_t kMostExact = std::uint64_t{1} << 53;       // above it JSON readers round numbers
// More than anyone pays for one request, and small enough for a run's sums.
constexpr double kMostUsd = 1e6;
constexpr std::uint64_t kMostTokens = 1'000'000'000'000;

/// nlohmann's messages quote the invalid text, which may be megabytes.
Error refused(const std::string& why) {
  return fail(ErrorCode::bad_input, "this is not an ask: " + why.substr(0, kLongestReason), "",
              "use tools/kernelsmith, or see README.md");
}

/// nlohmann's get<> would turn -1 and 0.9 into other numbers.
Result<std::uint64_t> whole_number(const Json& ask, const char* name, std::uint64_t most = kMostExact) {
  const Json& value = ask.at(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    return refused(std::string(name) + " is a whole number from 0 to " + std::to_string(most));
  return value.get<std::uint64_t>();
}

/// Throws Json::exception for another type.
Result<Source> source_in(const Json& ask) {
  std::vector<SourceFile> files;
  for (const auto& [path, text] : ask.at("files").items()) {
    files.push_back({path, text.get<std::string>()});
    drop_byte_order_mark(files.back().text);
  }
  if (files.empty()) return refused("it has no file");
  auto source = Source::create(std::move(files));
  if (source && source->bytes() > kMostProgramBytes) return refused("a program has at most 256 KiB");
  return source;
}

Result<Ask> report_in(const Json& ask) {
  AskReport report{ask.value("usd", 0.0), 0, 0};
  if (!(report.usd >= 0 && report.usd <= kMostUsd))
    return refused("usd is a number from 0 to " + number_text(kMostUsd));
  for (const auto& [name, tokens] :
       {std::pair("input_tokens", &report.input_tokens), std::pair("output_tokens", &report.output_tokens)}) {
    if (!ask.contains(name)) continue;
    const auto told = whole_number(ask, name, kMostTokens);
    if (!told) return told.error();
    *tokens = *told;
  }
  return report;
}

Result<Ask> parsed(const Json& ask) {
  const std::string tool = ask.at("tool").get<std::string>();
  if (tool == "evaluate") {
    auto source = source_in(ask);
    if (!source) return source.error();
    AskEvaluate evaluate{std::move(*source), {}, ask.value("careful", false)};
    if (ask.contains("parent")) {
      const auto parent = whole_number(ask, "parent");
      if (!parent) return parent.error();
      evaluate.parents.push_back({*parent});
    }
    return evaluate;
  }
  if (tool == "confirm") {
    const auto program = whole_number(ask, "program");
    if (!program) return program.error();
    return AskConfirm{{*program}};
  }
  if (tool == "submit") {
    if (ask.contains("program")) {
      const auto program = whole_number(ask, "program");
      if (!program) return program.error();
      return AskSubmit{ProgramId{*program}};
    }
    auto source = source_in(ask);
    if (!source) return source.error();
    return AskSubmit{std::move(*source)};
  }
  if (tool == "report") return report_in(ask);
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
