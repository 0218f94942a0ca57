#include "json_text.hpp"

#include <cstdio>

#include <nlohmann/json.hpp>

#include <kernelsmith/code/knobs.hpp>

namespace kernelsmith::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kIndent = 2;
constexpr const char* kLine = "line";
constexpr const char* kPretty = "pretty";

/// A candidate's output can hold any byte; what is no UTF-8 is replaced, and what is no ASCII escaped:
/// terminals obey some of it.
std::string dump(const Json& value, const JsonOption& json) {
  const int indent = json.style == kPretty ? kIndent : -1;
  return value.dump(indent, ' ', true, Json::error_handler_t::replace) + "\n";
}

Json interval(const Measurement& value) {
  return {{"median", value.median}, {"low", value.low}, {"high", value.high}, {"samples", value.samples}};
}

Json interval(const std::optional<Measurement>& value) { return value ? interval(*value) : Json(nullptr); }

Json median(const std::optional<Measurement>& value) { return value ? Json(value->median) : Json(nullptr); }

Json shape(const ShapeResult& result) {
  return {{"shape", result.shape},
          {"timed", result.timed},
          {"correct", result.correct ? Json(*result.correct) : Json(nullptr)},
          {"error", result.error},
          {"runtime_us", median(result.runtime_us)},
          {"speedup", interval(result.speedup)},
          {"short_call", result.short_call}};
}

Json shapes(const Report& report) {
  Json list = Json::array();
  for (const ShapeResult& result : report.shapes) list.push_back(shape(result));
  return list;
}

Json artifacts(const Report& report) {
  Json logs = Json::object();
  for (const Artifact& artifact : report.artifacts) logs[artifact.name] = artifact.text;
  return logs;
}

Json evaluation_object(const Evaluation& evaluation) {
  const Report& report = evaluation.report();
  const Metrics* metrics = evaluation.metrics();
  const Rejection* rejection = evaluation.rejection();
  return {{"accepted", evaluation.accepted()},
          {"stage", rejection ? Json(name_of(rejection->stage)) : Json(nullptr)},
          {"code", rejection ? Json(name_of(rejection->code)) : Json(nullptr)},
          {"diagnostics", rejection ? Json(rejection->diagnostics) : Json(nullptr)},
          {"fitness", metrics ? Json(metrics->fitness().median) : Json(nullptr)},
          {"features", metrics ? Json(metrics->features()) : Json::object()},
          {"speedup", interval(report.speedup)},
          {"over_yardstick", interval(report.over_yardstick)},
          {"runtime_us", median(report.runtime_us)},
          {"shapes", shapes(report)},
          {"tier", report.tier},
          {"hardware", report.hardware},
          {"toolchain", report.toolchain},
          {"spent_ms", Json(report.spent_ms)},
          {"artifacts", artifacts(report)}};
}

/// None if a knob is broken: the evaluation says so.
Json knobs_list(const Source& candidate, const std::vector<std::string>& paths) {
  Json list = Json::array();
  const auto knobs = find_knobs(candidate);
  for (const Knob& knob : knobs ? *knobs : std::vector<Knob>{})
    list.push_back({{"name", knob.name.empty() ? Json(nullptr) : Json(knob.name)},
                    {"file", paths[knob.file]},
                    {"line", knob.line},
                    {"value", knob.value()},
                    {"values", knob.values}});
  return list;
}

Json error_object(const std::optional<Error>& error) {
  if (!error) return nullptr;
  return {{"code", name_of(error->code)},
          {"message", error->message},
          {"where", error->where},
          {"hint", error->hint}};
}

Json counts_object(const Counts& counts) {
  return {{"iterations", counts.iterations}, {"evaluations", counts.evaluations},
          {"accepted", counts.accepted},     {"rejected", counts.rejected},
          {"repeated", counts.repeated},     {"refused", counts.refused},
          {"repairs", counts.repairs},       {"remeasured", counts.remeasured},
          {"given_back", counts.given_back}, {"demoted", counts.demoted}};
}

template <class T>
Json limit(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json budgets_object(const RunView& view) {
  const Budgets& budgets = view.state.budgets();
  const Counts& counts = view.state.counts();
  return {{"iterations", {{"used", counts.iterations}, {"limit", limit(budgets.iterations)}}},
          {"evaluations", {{"used", counts.evaluations}, {"limit", limit(budgets.evaluations)}}},
          {"wall_time_s",
           {{"used", view.state.elapsed_s() - view.state.confirming_s()}, {"limit", limit(budgets.wall_s)}}},
          {"usd", {{"used", view.state.spending().usd()}, {"limit", limit(budgets.usd)}}}};
}

Json totals_object(const CallTotals& totals) {
  const bool all_unpriced = totals.calls > 0 && totals.unpriced == totals.calls;
  return {{"calls", totals.calls},
          {"input_tokens", totals.input_tokens},
          {"cached_tokens", totals.cached_tokens},
          {"output_tokens", totals.output_tokens},
          {"reasoning_tokens", totals.reasoning_tokens},
          {"usd", all_unpriced ? Json(nullptr) : Json(totals.usd)},
          {"guessed_usd", totals.guessed_usd},
          {"untold_calls", totals.untold},
          {"unpriced_calls", totals.unpriced}};
}

Json cost_object(const Spending& spending) {
  Json cost = totals_object(spending.total());
  cost["interrupted_calls"] = spending.interrupted();
  cost["models"] = Json::array();
  for (const auto& [model, totals] : spending.models()) {
    Json row = {{"model", model}};
    row.update(totals_object(totals));
    cost["models"].push_back(std::move(row));
  }
  return cost;
}

Json best_object(const RunView& view) {
  const IndividualPtr best = view.state.best();
  if (!best) return nullptr;
  Json files = Json::array();
  for (const SourceFile& file : best->program->source.files())
    if (view.has_task) files.push_back((view.best_folder / file.path).string());
  return {{"program", best->program->id.value},
          {"files", files},
          {"confirmed", view.state.confirmation_of_best() != nullptr},
          {"evaluation", evaluation_object(*view.best_evaluation())}};
}

Json demoted_list(const RunView& view) {
  Json list = Json::array();
  for (const IndividualPtr& one : view.state.demoted())
    list.push_back({{"program", one->program->id.value}, {"evaluation", evaluation_object(one->evaluation)}});
  return list;
}

Json lineage_list(const RunView& view) {
  Json list = Json::array();
  for (const LineageStep& step : view.lineage_of_best) {
    const Metrics* metrics = step.individual->evaluation.metrics();
    list.push_back({{"program", step.individual->program->id.value},
                    {"origin", name_of(step.individual->program->origin)},
                    {"fitness", metrics ? Json(metrics->fitness().median) : Json(nullptr)},
                    {"diff", step.diff}});
  }
  return list;
}

Json task_object(const RunView& view) {
  const auto known = [&](const std::string& text) { return view.has_task ? Json(text) : Json(nullptr); };
  return {{"name", known(view.task.name)},
          {"backend", known(view.task.backend)},
          {"digest", view.task.digest.hex()}};
}

Json archive_object(const RunView& view) {
  if (!view.has_cells) return nullptr;
  const Grid& grid = view.state.archipelago().grid();
  const ArchiveStatistics statistics = view.state.archipelago().statistics();
  Json axes = Json::array();
  for (const Axis& axis : grid.axes()) {
    Json labels = Json::array();
    for (std::size_t bin = 0; bin < axis.bins(); ++bin) labels.push_back(axis.label(bin));
    axes.push_back({{"feature", axis.feature()}, {"bins", labels}});
  }
  Json cells = Json::array();
  for (const auto& [cell, elite] : view.elites())
    cells.push_back({{"at", grid.coordinates(cell)},
                     {"program", elite.individual->program->id.value},
                     {"fitness", elite.fitness}});
  return {{"axes", axes},
          {"cells", statistics.cells},
          {"filled", statistics.filled},
          {"qd_score", statistics.qd_score},
          {"elites", cells},
          {"migrations", view.state.migrations()},
          {"digest", view.archive_digest().hex()}};
}

Json failures_list(const RunView& view) {
  Json list = Json::array();
  for (const auto& [rule, count] : view.state.failures())
    list.push_back({{"stage", name_of(rule.first)}, {"code", name_of(rule.second)}, {"count", count}});
  return list;
}

Json dead_letters_list(const RunView& view) {
  Json list = Json::array();
  for (const ProgramId program : view.lost_workers) list.push_back(program.value);
  return list;
}

Json given_back_list(const RunView& view) {
  Json list = Json::array();
  for (const auto& [code, count] : view.given_back)
    list.push_back({{"code", name_of(code)}, {"count", count}});
  return list;
}

Json refusals_list(const RunView& view) {
  Json list = Json::array();
  for (const auto& [code, all] : view.refusals)
    list.push_back(
        {{"code", name_of(code)}, {"count", all.count}, {"ticket", all.last.value}, {"detail", all.detail}});
  return list;
}

}  // namespace

void JsonOption::add_to(CLI::App& command, const char* what) {
  command.add_flag("--json{line}", style, std::string(what) + "; --json=pretty indents it")
      ->check(CLI::IsMember({kLine, kPretty}));
}

std::string json_of(const Evaluation& evaluation, const Source& candidate,
                    const std::vector<std::string>& paths, const JsonOption& json) {
  Json object = evaluation_object(evaluation);
  object["knobs"] = knobs_list(candidate, paths);
  return dump(object, json);
}

std::string json_of(const RunView& view, const JsonOption& json) {
  return dump({{"run", view.run_id},
               {"folder", view.folder.string()},
               {"task", task_object(view)},
               {"seed", view.config.seed},
               {"deterministic", view.config.deterministic},
               {"ended", view.reason == EndReason::unfinished ? Json(nullptr) : Json(name_of(view.reason))},
               {"used_up", view.reason == EndReason::budget
                               ? Json(name_of(view.state.used_up(view.state.elapsed_s())))
                               : Json(nullptr)},
               {"budgets", budgets_object(view)},
               {"confirming_s", view.state.confirming_s()},
               {"error", error_object(view.state.session_error())},
               {"in_use", view.in_use},
               {"cost", cost_object(view.spending())},
               {"counts", counts_object(view.state.counts())},
               {"best", best_object(view)},
               {"demoted", demoted_list(view)},
               {"archive", archive_object(view)},
               {"lineage", lineage_list(view)},
               {"failures", failures_list(view)},
               {"given_back", given_back_list(view)},
               {"dead_letters", dead_letters_list(view)},
               {"refusals", refusals_list(view)}},
              json);
}

std::string json_of(const MachineReport& machine, const JsonOption& json) {
  Json checks = Json::array();
  for (const MachineCheck& check : machine.checks)
    checks.push_back({{"name", check.name},
                      {"status", name_of(check.status)},
                      {"required", check.required},
                      {"detail", check.detail},
                      {"remedy", check.remedy}});
  return dump({{"version", KERNELSMITH_VERSION},
               {"usable", machine.usable()},
               {"tier", machine.tier},
               {"checks", checks}},
              json);
}

std::string json_of(const PromptPreview& preview, const JsonOption& json) {
  const Prompt& prompt = preview.prompt;
  Json dropped = Json::array();
  for (const Dropped& part : prompt.dropped)
    dropped.push_back({{"what", part.what}, {"tokens", part.tokens}});
  Json messages = Json::array();
  messages.push_back({{"role", "system"}, {"content", prompt.system}});
  messages.push_back({{"role", "user"}, {"content", prompt.user}});
  return dump({{"operator", name_of(preview.request.op)},
               {"set", prompt.set},
               {"ticket", preview.request.ticket.value},
               {"tokens", prompt.tokens},
               {"budget", preview.budget_tokens > 0 ? Json(preview.budget_tokens) : Json(nullptr)},
               {"dropped", dropped},
               {"digest", prompt.digest().hex()},
               {"messages", messages}},
              json);
}

int report(const Error& error, const JsonOption& json) {
  if (json) std::fputs(dump({{"error", error_object(error)}}, json).c_str(), stdout);
  return kernelsmith::report(stderr, error);
}

}  // namespace kernelsmith::cli
