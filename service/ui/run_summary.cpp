#include "run_summary.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "curve.hpp"
#include "evaluation_json.hpp"
#include "search_json.hpp"
#include "ui_json.hpp"

namespace kernelsmith::ui {
namespace {

// More dots than this cover each other on the widest screen.
constexpr std::size_t kMostDots = 1200;
constexpr std::size_t kMostDetailBytes = 4000;

Json pair(std::string_view is, std::string why) { return {{"is", is}, {"why", std::move(why)}}; }

/// In the words of the report.
Json state_of(const RunView& view) {
  const auto used_up = [&] {
    return "its budget is used up: " + std::string(name_of(view.state.used_up(view.state.elapsed_s())));
  };
  const bool all_told = view.state.open().empty();
  if (view.in_use && (view.reason == EndReason::unfinished || !all_told))
    return pair("under way",
                view.reason == EndReason::budget ? used_up() + "; what was begun is waited for" : "");
  switch (view.reason) {
    case EndReason::budget:
      return pair("ended", used_up());
    case EndReason::exhausted:
      return pair("ended", "nothing new was found to propose");
    case EndReason::refused:
      return pair("ended", "the task is not usable: its seed was rejected");
    default:
      break;
  }
  if (view.reason != EndReason::unfinished) return pair("ended", std::string(name_of(view.reason)));
  if (const auto& error = view.state.session_error())
    return pair("stopped", "an error ended the last session: " + describe(*error));
  return pair("not at its end", "it can be resumed");
}

template <class T, class L>
Json used_of(T used, const std::optional<L>& limit) {
  return {{"used", used}, {"limit", limit ? Json(*limit) : Json(nullptr)}};
}

Json budgets_of(const RunView& view) {
  const Budgets& budgets = view.state.budgets();
  const Counts& counts = view.state.counts();
  return {{"iterations", used_of(counts.iterations, budgets.iterations)},
          {"evaluations", used_of(counts.evaluations, budgets.evaluations)},
          {"wall_time_s", used_of(view.state.elapsed_s() - view.state.confirming_s(), budgets.wall_s)},
          {"usd", used_of(view.state.spending().usd(), budgets.usd)}};
}

Json counts_of(const Counts& counts) {
  return {{"accepted", counts.accepted}, {"rejected", counts.rejected},    {"repeated", counts.repeated},
          {"refused", counts.refused},   {"repairs", counts.repairs},      {"remeasured", counts.remeasured},
          {"demoted", counts.demoted},   {"given_back", counts.given_back}};
}

Json totals_of(const CallTotals& totals) {
  const bool unpriced = totals.calls > 0 && totals.unpriced == totals.calls;
  return {{"calls", totals.calls},
          {"input_tokens", totals.input_tokens},
          {"output_tokens", totals.output_tokens},
          {"usd", unpriced ? Json(nullptr) : Json(totals.usd + totals.guessed_usd)}};
}

Json cost_of(const RunView& view) {
  const Spending spending = view.spending();
  Json cost = totals_of(spending.total());
  cost["interrupted_calls"] = spending.interrupted();
  cost["models"] = Json::array();
  for (const auto& [model, totals] : spending.models()) {
    Json row = {{"model", model}};
    row.update(totals_of(totals));
    cost["models"].push_back(std::move(row));
  }
  return cost;
}

Json best_of(const RunView& view) {
  const IndividualPtr best = view.state.best();
  if (!best) return nullptr;
  return {{"program", best->program->id.value},
          {"origin", name_of(best->program->origin)},
          {"measured_again", view.state.confirmation_of_best() != nullptr},
          {"evaluation", evaluation_json(*view.best_evaluation())}};
}

Json point_of(const CurvePoint& point) { return Json::array({point.at, point.fitness, point.program.value}); }

Json curve_json(const Curve& curve) {
  Json steps = Json::array();
  for (const CurveStep& step : curve.steps)
    steps.push_back({{"at", step.point.at},
                     {"program", step.point.program.value},
                     {"fitness", step.point.fitness},
                     {"low", step.low},
                     {"high", step.high}});
  Json accepted = Json::array();
  for (const CurvePoint& point : curve.accepted) accepted.push_back(point_of(point));
  return {{"evaluated", curve.evaluated},
          {"unit", curve.unit},
          {"steps", steps},
          {"accepted", accepted},
          {"rejected", curve.rejected}};
}

Json refusals_of(const RunView& view) {
  Json list = Json::array();
  for (const auto& [code, all] : view.refusals)
    list.push_back({{"code", name_of(code)},
                    {"count", all.count},
                    {"ticket", all.last.value},
                    {"detail", cut_text(all.detail, kMostDetailBytes)}});
  return list;
}

Json demoted_of(const RunView& view) {
  Json list = Json::array();
  for (const IndividualPtr& one : view.state.demoted())
    list.push_back(
        {{"program", one->program->id.value}, {"code", name_of(one->evaluation.rejection()->code)}});
  return list;
}

Json given_back_of(const RunView& view) {
  Json list = Json::array();
  for (const auto& [code, count] : view.given_back)
    list.push_back({{"code", name_of(code)}, {"count", count}});
  return list;
}

Json task_of(const RunView& view) {
  if (!view.has_task) return nullptr;
  return {{"name", view.task.name}, {"backend", view.task.backend}};
}

std::string folder_name(const RunView& view) {
  const std::filesystem::path folder = view.folder.lexically_normal();
  return (folder.has_filename() ? folder.filename() : folder.parent_path().filename()).string();
}

}  // namespace

Result<std::string> run_summary(const RunView& view) {
  const auto curve = curve_of(view, kMostDots);
  if (!curve) return curve.error();
  return one_line({{"kind", "run"},
                   {"run", view.run_id},
                   {"name", folder_name(view)},
                   {"task", task_of(view)},
                   {"seed", view.config.seed},
                   {"deterministic", view.config.deterministic},
                   {"in_use", view.in_use},
                   {"state", state_of(view)},
                   {"budgets", budgets_of(view)},
                   {"progress", view.state.progress()},
                   {"confirming_s", view.state.confirming_s()},
                   {"counts", counts_of(view.state.counts())},
                   {"cost", cost_of(view)},
                   {"calls_under_way", view.calls_under_way},
                   {"answers_on_their_way", view.answers_on_their_way},
                   {"best", best_of(view)},
                   {"demoted", demoted_of(view)},
                   {"given_back", given_back_of(view)},
                   {"curve", curve_json(*curve)},
                   {"archive", archive_json(view)},
                   {"islands", islands_json(view)},
                   {"lineage", lineage_json(view)},
                   {"failures", failures_json(view)},
                   {"refusals", refusals_of(view)},
                   {"open", open_json(view)}});
}

}  // namespace kernelsmith::ui
