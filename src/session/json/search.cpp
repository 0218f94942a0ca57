// The archive and the failures of a run.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "values.hpp"

namespace kernelsmith::view_json {
namespace {

constexpr std::size_t kShownAxes = 2;

using CellElite = std::pair<Cell, Elite>;

/// The best program of each cell on the first two axes; only the best `most` cells if there are more.
std::vector<CellElite> best_places(const RunView& view, std::size_t most) {
  const Grid& grid = view.state.archipelago().grid();
  std::map<std::vector<std::size_t>, CellElite> best;
  for (const auto& [cell, elite] : view.elites()) {
    auto place = grid.coordinates(cell);
    place.resize(std::min(place.size(), kShownAxes));
    const auto [at, added] = best.try_emplace(std::move(place), cell, elite);
    if (!added && elite.fitness > at->second.second.fitness) at->second = {cell, elite};
  }
  std::vector<CellElite> places;
  for (auto& [place, one] : best) places.push_back(std::move(one));
  if (places.size() > most) {
    std::ranges::stable_sort(places, std::ranges::greater(),
                             [](const CellElite& one) { return one.second.fitness; });
    places.resize(most);
  }
  return places;
}

std::vector<CellElite> elites_of(const RunView& view, std::size_t most) {
  if (most != std::string::npos) return best_places(view, most);
  const auto all = view.elites();
  return {all.begin(), all.end()};
}

Json axis_object(const Axis& axis, std::size_t most_labels) {
  Json labels = Json::array();
  for (std::size_t bin = 0; bin < axis.bins(); ++bin)
    labels.push_back(axis.bins() > most_labels ? "" : axis.label(bin));
  return {{"feature", axis.feature()}, {"bins", labels}};
}

using Failures = std::map<std::pair<Stage, RejectionCode>, IndividualPtr>;

/// For each rule, the latest program that it rejected, among those that islands remember.
Failures latest_failures(const Archipelago& archipelago) {
  Failures latest;
  const auto take = [&](const IndividualPtr& failed) {
    const Rejection* rejection = failed->evaluation.rejection();
    if (!rejection) return;
    IndividualPtr& kept = latest[{rejection->stage, rejection->code}];
    if (!kept || kept->program->id < failed->program->id) kept = failed;
  };
  for (std::uint32_t i = 0; i < archipelago.size(); ++i) {
    std::ranges::for_each(archipelago.island({i}).recent_failures(), take);
    std::ranges::for_each(archipelago.island({i}).rejections(), take);
  }
  return latest;
}

/// Additional data of a run with several objectives.
void add_objectives(const RunView& view, const Extent& extent, Json& archive) {
  const Objectives& objectives = view.state.archipelago().objectives();
  archive["objectives"] = {{"rule", name_of(objectives.rule())},
                           {"list", list_of(objectives.list(), [](const Objective& one) -> Json {
                              return {{"feature", one.feature}, {"better", one.minimise ? "less" : "more"}};
                            })}};
  const auto member = [&](const IndividualPtr& individual) -> Json {
    const Metrics& metrics = *individual->evaluation.metrics();
    Json values = Json::object();
    for (std::size_t i = 0; i < objectives.list().size(); ++i)
      values[objectives.list()[i].feature] = or_null(objectives.reported(i, metrics));
    values["fitness"] = view.shown(individual)->evaluation.metrics()->fitness().median;
    return {{"program", individual->program->id.value},
            {"origin", name_of(individual->program->origin)},
            {"values", values}};
  };
  auto front = view.state.archipelago().front();
  if (front.size() > extent.cells) front.resize(extent.cells);
  archive["front"] = list_of(front, member);
}

}  // namespace

Json archive_object(const RunView& view, const Extent& extent) {
  if (!view.has_cells) return nullptr;
  const Grid& grid = view.state.archipelago().grid();
  const ArchiveStatistics statistics = view.state.archipelago().statistics();
  const auto elite_object = [&](const CellElite& one) -> Json {
    const Program& program = *one.second.individual->program;
    return {{"at", grid.coordinates(one.first)},
            {"program", program.id.value},
            {"origin", name_of(program.origin)},
            {"fitness", view.shown(one.second.individual)->evaluation.metrics()->fitness().median}};
  };
  Json archive = {
      {"axes", list_of(grid.axes(), [&](const Axis& axis) { return axis_object(axis, extent.labels); })},
      {"cells", statistics.cells},
      {"filled", statistics.filled},
      {"qd_score", statistics.qd_score},
      {"elites", list_of(elites_of(view, extent.cells), elite_object)},
      {"migrations", view.state.migrations()},
      {"digest", view.archive_digest().hex()}};
  if (view.state.archipelago().objectives().several()) add_objectives(view, extent, archive);
  return archive;
}

Json failures_list(const RunView& view, const Extent& extent) {
  const Failures latest = latest_failures(view.state.archipelago());
  return list_of(view.state.failures(), [&](const auto& failure) -> Json {
    const auto& [rule, count] = failure;
    const auto found = latest.find(rule);
    Json example = nullptr;
    if (found != latest.end())
      example = {{"program", found->second->program->id.value},
                 {"diagnostics", cut(found->second->evaluation.rejection()->diagnostics, extent.text_bytes)}};
    return {{"stage", name_of(rule.first)},
            {"code", name_of(rule.second)},
            {"count", count},
            {"latest", example}};
  });
}

}  // namespace kernelsmith::view_json
