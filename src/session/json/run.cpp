// The object of `show --json`.
#include <algorithm>

#include <kernelsmith/session/run_json.hpp>

#include "values.hpp"

namespace kernelsmith {
namespace view_json {
namespace {

Json task_object(const RunView& view) {
  const auto known = [&](const std::string& text) { return view.has_task ? Json(text) : Json(nullptr); };
  return {{"name", known(view.task.name)},
          {"backend", known(view.task.backend)},
          {"digest", view.task.digest.hex()}};
}

Json counts_object(const Counts& counts) {
  return {{"iterations", counts.iterations}, {"evaluations", counts.evaluations},
          {"accepted", counts.accepted},     {"rejected", counts.rejected},
          {"repeated", counts.repeated},     {"same_binary", counts.same_binary},
          {"refused", counts.refused},       {"repairs", counts.repairs},
          {"tunings", counts.tunings},       {"remeasured", counts.remeasured},
          {"given_back", counts.given_back}, {"demoted", counts.demoted}};
}

template <class T, class L>
Json used_of(T used, const std::optional<L>& limit) {
  return {{"used", used}, {"limit", or_null(limit)}};
}

Json budgets_object(const RunView& view) {
  const Budgets& budgets = view.state.budgets();
  const Counts& counts = view.state.counts();
  return {{"iterations", used_of(counts.iterations, budgets.iterations)},
          {"evaluations", used_of(counts.evaluations, budgets.evaluations)},
          {"calls", used_of(view.state.calls(), budgets.calls)},
          {"wall_time_s", used_of(view.state.elapsed_s() - view.state.confirming_s(), budgets.wall_s)},
          {"usd", used_of(view.state.spending().usd(), budgets.usd)}};
}

Json expected_gain_object(const RunView& view) {
  const auto expected = view.expected_gain();
  if (!expected) return nullptr;
  return {{"evaluations", expected->evaluations},
          {"percent", expected->percent},
          {"until_flat", or_null(view.state.budgets().until_flat)}};
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
  cost["models"] = list_of(spending.models(), [](const auto& model) {
    Json row = {{"model", model.first}};
    row.update(totals_object(model.second));
    return row;
  });
  return cost;
}

std::uint64_t count_of(double whole) { return static_cast<std::uint64_t>(whole); }

Json arms_list(const RunView& view) {
  const Arm total = view.state.arms().total();
  return list_of(view.state.arms().arms(), [&](const auto& arm) -> Json {
    const auto& [choice, sums] = arm;
    return {{"operator", name_of(choice.op)},
            {"model", choice.model},
            {"tries", count_of(sums.all.tries)},
            {"share", sums.all.tries / total.all.tries},
            {"recent_share", sums.lately.tries / total.lately.tries},
            {"accepted", count_of(sums.all.accepted)},
            {"better", count_of(sums.all.better)},
            {"gain", sums.all.gain},
            {"usd", sums.all.usd},
            {"tokens", count_of(sums.all.tokens)}};
  });
}

Json best_object(const RunView& view, const Extent& extent) {
  const IndividualPtr best = view.state.best();
  if (!best) return nullptr;
  Json files = Json::array();
  for (const SourceFile& file : best->program->source.files())
    if (view.has_task) files.push_back((view.best_folder / file.path).string());
  return {{"program", best->program->id.value},
          {"origin", name_of(best->program->origin)},
          {"files", files},
          {"confirmed", view.state.confirmation_of_best() != nullptr},
          {"evaluation", evaluation_object(*view.best_evaluation(), extent)}};
}

Json lineage_list(const RunView& view, const Extent& extent) {
  const auto& steps = view.lineage_of_best;
  std::size_t left = extent.diff_bytes;
  Json list = Json::array();
  for (std::size_t i = steps.size() - std::min(steps.size(), extent.steps); i < steps.size(); ++i) {
    const IndividualPtr shown = view.shown(steps[i].individual);
    const Individual& one = *shown;
    const Metrics* metrics = one.evaluation.metrics();
    const Rejection* rejection = one.evaluation.rejection();
    list.push_back({{"step", i},
                    {"program", one.program->id.value},
                    {"origin", name_of(one.program->origin)},
                    {"fitness", metrics ? Json(metrics->fitness().median) : Json(nullptr)},
                    {"measurement", fitness_interval(one.evaluation)},
                    {"code", rejection ? Json(name_of(rejection->code)) : Json(nullptr)},
                    {"diff", cut(steps[i].diff, left)}});
    left -= std::min(left, steps[i].diff.size());
  }
  return list;
}

Json demoted_list(const RunView& view, const Extent& extent) {
  return list_of(view.state.demoted(), [&](const IndividualPtr& one) -> Json {
    return {{"program", one->program->id.value}, {"evaluation", evaluation_object(one->evaluation, extent)}};
  });
}

Json given_back_list(const RunView& view) {
  return list_of(view.given_back, [](const auto& one) -> Json {
    return {{"code", name_of(one.first)}, {"count", one.second}};
  });
}

Json refusals_list(const RunView& view, const Extent& extent) {
  return list_of(view.refusals, [&](const auto& one) -> Json {
    const auto& [code, all] = one;
    return {{"code", name_of(code)},
            {"count", all.count},
            {"ticket", all.last.value},
            {"detail", cut(all.detail, extent.text_bytes)}};
  });
}

}  // namespace

Json run_object(const RunView& view, const Extent& extent) {
  const auto& error = view.state.session_error();
  return {
      {"run", view.run_id},
      {"folder", view.folder.string()},
      {"task", task_object(view)},
      {"seed", view.config.seed},
      {"deterministic", view.config.deterministic},
      {"ended", view.reason == EndReason::unfinished ? Json(nullptr) : Json(name_of(view.reason))},
      {"used_up", view.reason == EndReason::budget ? Json(name_of(view.state.used_up(view.state.elapsed_s())))
                                                   : Json(nullptr)},
      {"budgets", budgets_object(view)},
      {"expected_gain", expected_gain_object(view)},
      {"confirming_s", view.state.confirming_s()},
      {"error", error ? error_object(*error) : Json(nullptr)},
      {"in_use", view.in_use},
      {"goes_on", view.has_task ? Json(goes_on(view.config, view.folder, true)) : Json(nullptr)},
      {"cost", cost_object(view.spending())},
      {"counts", counts_object(view.state.counts())},
      {"arms", arms_list(view)},
      {"best", best_object(view, extent)},
      {"demoted", demoted_list(view, extent)},
      {"archive", archive_object(view, extent)},
      {"lineage", lineage_list(view, extent)},
      {"failures", failures_list(view, extent)},
      {"given_back", given_back_list(view)},
      {"dead_letters", list_of(view.lost_workers, [](ProgramId program) { return program.value; })},
      {"refusals", refusals_list(view, extent)}};
}

}  // namespace view_json

std::string run_json(const RunView& view) { return view_json::one_line(view_json::run_object(view, {})); }

}  // namespace kernelsmith
