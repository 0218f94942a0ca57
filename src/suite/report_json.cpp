// Writes a suite's report as JSON, and reads it to continue.
#include <span>

#include <nlohmann/json.hpp>

#include "tables.hpp"

namespace kernelsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr int kIndent = 2;

template <class T>
Json nullable(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json object_of(const SuiteCost& cost) {
  return {{"calls", cost.calls},
          {"unpriced_calls", cost.unpriced},
          {"input_tokens", cost.input_tokens},
          {"output_tokens", cost.output_tokens},
          {"usd", cost.calls > 0 && cost.unpriced == cost.calls ? Json(nullptr) : Json(cost.usd)}};
}

Json object_of(const Error& error) {
  return {{"code", name_of(error.code)},
          {"message", error.message},
          {"where", error.where},
          {"hint", error.hint}};
}

Json object_of(const Measurement& value) {
  return {{"median", value.median},
          {"low", value.low},
          {"high", value.high},
          {"samples", value.samples},
          {"unit", value.unit}};
}

Json object_of(const CandidateResult& result) {
  return {{"candidate", result.name},
          {"by", result.by},
          {"claimed", result.claimed > 0 ? Json(result.claimed) : Json(nullptr)},
          {"verdict", result.verdict},
          {"speedup", result.speedup ? object_of(*result.speedup) : Json(nullptr)},
          {"own_kernels", nullable(result.own_kernels)},
          {"degenerate", nullable(result.degenerate)},
          {"algebraic", nullable(result.algebraic)},
          {"error", result.error ? object_of(*result.error) : Json(nullptr)}};
}

Json object_of(const TaskResult& result) {
  Json candidates = Json::array();
  for (const CandidateResult& each : result.of_candidates) candidates.push_back(object_of(each));
  Json json = {{"task", result.name},
               {"level", result.level},
               {"basis", result.basis},
               {"correct", result.correct},
               {"speedup", result.speedup ? object_of(*result.speedup) : Json(nullptr)},
               {"candidates", result.candidates},
               {"hacks", result.hacks},
               {"trivial", result.trivial},
               {"degenerate", result.degenerate},
               {"algebraic", result.algebraic},
               {"cost", object_of(result.cost)},
               {"best_by_round", result.best_by_round},
               {"of_candidates", std::move(candidates)},
               {"failure", result.failure},
               {"error", result.error ? object_of(*result.error) : Json(nullptr)}};
  if (result.wall_s > 0)
    json.update(Json{{"reason", result.reason},
                     {"wall_s", result.wall_s},
                     {"spent_s", result.spent_s},
                     {"memory", result.memory}});
  return json;
}

Json object_of(const SuiteMetrics& metrics) {
  Json json = {{"level", metrics.level ? Json(*metrics.level) : Json("all")},
               {"tasks", metrics.tasks},
               {"errors", metrics.errors},
               {"corr", metrics.corr}};
  for (std::size_t i = 0; i < kFastThresholds.size(); ++i)
    json[suite::fast_name(kFastThresholds[i])] = metrics.fast[i];
  json.update(Json{{"amsr", metrics.amsr},
                   {"geomean", nullable(metrics.geomean)},
                   {"median", nullable(metrics.median)},
                   {"hack_rate", nullable(metrics.hack_rate)},
                   {"trivial_rate", nullable(metrics.trivial_rate)},
                   {"cost", object_of(metrics.cost)},
                   {"amsr_by_round", metrics.amsr_by_round}});
  return json;
}

Json levels_of(std::span<const TaskResult> results) {
  Json levels = Json::array();
  for (const SuiteMetrics& metrics : summarise(results)) levels.push_back(object_of(metrics));
  return levels;
}

SuiteCost cost_from(const Json& json) {
  SuiteCost cost;
  cost.calls = json.at("calls").get<std::uint64_t>();
  cost.unpriced = json.at("unpriced_calls").get<std::uint64_t>();
  cost.input_tokens = json.at("input_tokens").get<std::uint64_t>();
  cost.output_tokens = json.at("output_tokens").get<std::uint64_t>();
  if (!json.at("usd").is_null()) cost.usd = json.at("usd").get<double>();
  return cost;
}

std::optional<Measurement> measurement_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return Measurement{json.at("median").get<double>(), json.at("low").get<double>(),
                     json.at("high").get<double>(), json.at("samples").get<std::size_t>(),
                     json.at("unit").get<std::string>()};
}

CandidateResult candidate_from(const Json& json) {
  CandidateResult result;
  result.name = json.at("candidate").get<std::string>();
  result.by = json.at("by").get<std::string>();
  if (!json.at("claimed").is_null()) result.claimed = json.at("claimed").get<double>();
  result.verdict = json.at("verdict").get<std::string>();
  result.speedup = measurement_from(json.at("speedup"));
  if (result.speedup) {  // older files have meaningless values for rejected candidates
    result.own_kernels = json.at("own_kernels").get<bool>();
    result.degenerate = json.at("degenerate").get<bool>();
    result.algebraic = json.at("algebraic").get<bool>();
  }
  return result;
}

TaskResult result_from(const Json& json) {
  TaskResult result;
  result.name = json.at("task").get<std::string>();
  result.level = json.at("level").get<unsigned>();
  result.basis = json.at("basis").get<std::string>();
  result.correct = json.at("correct").get<bool>();
  result.speedup = measurement_from(json.at("speedup"));
  result.candidates = json.at("candidates").get<std::uint64_t>();
  result.hacks = json.at("hacks").get<std::uint64_t>();
  result.trivial = json.at("trivial").get<bool>();
  result.degenerate = json.value("degenerate", false);  // older files lack both keys
  result.algebraic = json.value("algebraic", false);
  result.cost = cost_from(json.at("cost"));
  result.best_by_round = json.at("best_by_round").get<std::vector<double>>();
  result.failure = json.at("failure").get<std::string>();
  if (json.contains("wall_s")) {  // only in results of scoring
    result.reason = json.at("reason").get<std::string>();
    result.wall_s = json.at("wall_s").get<double>();
    result.spent_s = json.at("spent_s").get<std::map<std::string, double>>();
    result.memory = json.at("memory").get<std::string>();
  }
  for (const Json& each : json.value("of_candidates", Json::array()))  // older files lack this key
    result.of_candidates.push_back(candidate_from(each));
  return result;
}

}  // namespace

std::string to_json(const SuiteReport& report) {
  Json levels = levels_of(report.results), tasks = Json::array();
  for (const TaskResult& result : report.results) tasks.push_back(object_of(result));
  const Json json = {{"version", kVersion},
                     {"kind", report.kind},
                     {"settings", report.settings},
                     {"tasks", report.tasks},
                     {"levels", levels},
                     {"levels_without_shortcuts", levels_of(without_shortcuts(report.results))},
                     {"results", tasks}};
  // Replaces invalid UTF-8, because a candidate's output may contain any byte.
  return json.dump(kIndent, ' ', true, Json::error_handler_t::replace) + "\n";
}

Result<SuiteReport> suite_report_from_json(std::string_view text, const std::string& where) {
  try {
    const Json json = Json::parse(text);
    if (const auto version = json.at("version").get<int>(); version != kVersion)
      return fail(ErrorCode::version, "these results have version " + std::to_string(version), where,
                  "this kernelsmith reads version " + std::to_string(kVersion));
    SuiteReport report;
    report.kind = json.at("kind").get<std::string>();
    report.settings = json.at("settings").get<std::map<std::string, std::string>>();
    report.tasks = json.at("tasks").get<std::uint64_t>();
    for (const Json& result : json.at("results"))
      if (result.at("error").is_null()) report.results.push_back(result_from(result));
    return report;
  } catch (const Json::exception& wrong) {
    return fail(ErrorCode::bad_input, std::string("these are not results of kernelsmith: ") + wrong.what(),
                where, "remove the file to begin again, or name another folder with --out");
  }
}

}  // namespace kernelsmith
