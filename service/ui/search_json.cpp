#include "search_json.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "evaluation_json.hpp"

namespace kernelsmith::ui {
namespace {

// More cells than this have no room on a screen; the best ones are kept.
constexpr std::size_t kMostCells = 4000;
constexpr std::size_t kShownAxes = 2;
// More labels than this are not read, and need not be sent.
constexpr std::size_t kMostLabels = 400;
constexpr std::size_t kMostTickets = 40;
constexpr std::size_t kMostIslands = 64;

using Place = std::vector<std::size_t>;  ///< on the shown axes

std::vector<std::pair<Place, Elite>> best_places(const Grid& grid, const std::map<Cell, Elite>& elites) {
  std::map<Place, Elite> best;
  for (const auto& [cell, elite] : elites) {
    Place place = grid.coordinates(cell);
    place.resize(std::min(place.size(), kShownAxes));
    const auto [at, added] = best.try_emplace(std::move(place), elite);
    if (!added && elite.fitness > at->second.fitness) at->second = elite;
  }
  std::vector<std::pair<Place, Elite>> places(best.begin(), best.end());
  if (places.size() > kMostCells) {
    std::ranges::stable_sort(places, std::ranges::greater(),
                             [](const auto& one) { return one.second.fitness; });
    places.resize(kMostCells);
  }
  return places;
}

Json axis_of(const Axis& axis) {
  Json labels = Json::array();
  for (std::size_t bin = 0; bin < axis.bins() && axis.bins() <= kMostLabels; ++bin)
    labels.push_back(axis.label(bin));
  return {{"feature", axis.feature()}, {"bins", axis.bins()}, {"labels", labels}};
}

/// What the ticket's iteration waits for.
const char* waits_for(const OpenTicket& ticket) {
  if (ticket.answered()) return "its turn";
  const bool has_program =
      ticket.child() || ticket.kind == TicketKind::duel || ticket.kind == TicketKind::confirm;
  return has_program ? "evaluation" : "proposal";
}

std::string_view purpose_of(const OpenTicket& ticket) {
  if (ticket.opened.op) return name_of(*ticket.opened.op);
  if (ticket.opened.remeasurement) return name_of(*ticket.opened.remeasurement);
  return "seed";
}

/// The latest rejected program of each rule that an island remembers.
std::map<std::pair<Stage, RejectionCode>, IndividualPtr> latest_failures(const Archipelago& archipelago) {
  std::map<std::pair<Stage, RejectionCode>, IndividualPtr> latest;
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

}  // namespace

Json archive_json(const RunView& view) {
  if (!view.has_cells) return nullptr;
  const Grid& grid = view.state.archipelago().grid();
  const ArchiveStatistics statistics = view.state.archipelago().statistics();
  Json axes = Json::array();
  for (const Axis& axis : grid.axes()) axes.push_back(axis_of(axis));
  Json cells = Json::array();
  for (const auto& [place, elite] : best_places(grid, view.elites()))
    cells.push_back({{"at", place},
                     {"program", elite.individual->program->id.value},
                     {"origin", name_of(elite.individual->program->origin)},
                     {"fitness", elite.fitness}});
  return {{"axes", axes},
          {"cells", statistics.cells},
          {"filled", statistics.filled},
          {"qd_score", statistics.qd_score},
          {"migrations", view.state.migrations()},
          {"shown", cells}};
}

Json islands_json(const RunView& view) {
  const Archipelago& archipelago = view.state.archipelago();
  Json list = Json::array();
  for (std::uint32_t i = 0; i < std::min(archipelago.size(), kMostIslands); ++i) {
    const Archive& archive = archipelago.island({i}).archive();
    const ArchiveStatistics statistics = archive.statistics();
    const IndividualPtr best = archive.best();
    Json sends_to = Json::array();
    for (const IslandId neighbour : archipelago.topology().neighbours({i}))
      sends_to.push_back(neighbour.value);
    list.push_back({{"island", i},
                    {"filled", statistics.filled},
                    {"mean", statistics.mean ? Json(*statistics.mean) : Json(nullptr)},
                    {"best", best ? json_of(best->evaluation.metrics()->fitness()) : Json(nullptr)},
                    {"program", best ? Json(best->program->id.value) : Json(nullptr)},
                    {"sends_to", sends_to}});
  }
  return {{"count", archipelago.size()}, {"shown", list}};
}

Json lineage_json(const RunView& view) {
  const auto& steps = view.lineage_of_best;
  const std::size_t left_out = steps.size() - std::min(steps.size(), kShownSteps);
  Json list = Json::array();
  for (std::size_t i = left_out; i < steps.size(); ++i) {
    const Individual& one = *steps[i].individual;
    const Metrics* metrics = one.evaluation.metrics();
    const Rejection* rejection = one.evaluation.rejection();
    list.push_back({{"step", i},
                    {"program", one.program->id.value},
                    {"origin", name_of(one.program->origin)},
                    {"fitness", metrics ? json_of(metrics->fitness()) : Json(nullptr)},
                    {"code", rejection ? Json(name_of(rejection->code)) : Json(nullptr)}});
  }
  return {{"left_out", left_out}, {"steps", list}};
}

Json failures_json(const RunView& view) {
  const auto latest = latest_failures(view.state.archipelago());
  Json list = Json::array();
  for (const auto& [rule, count] : view.state.failures()) {
    const auto found = latest.find(rule);
    Json example = nullptr;
    if (found != latest.end()) {
      example = rejection_json(found->second->evaluation);
      example["program"] = found->second->program->id.value;
    }
    list.push_back({{"stage", name_of(rule.first)},
                    {"code", name_of(rule.second)},
                    {"count", count},
                    {"latest", example}});
  }
  return list;
}

Json open_json(const RunView& view) {
  const auto& open = view.state.open();
  Json list = Json::array();
  for (const auto& [id, ticket] : open) {
    if (list.size() == kMostTickets) break;
    list.push_back({{"ticket", id.value},
                    {"island", ticket.opened.island.value},
                    {"purpose", purpose_of(ticket)},
                    {"model", ticket.opened.model},
                    {"parent", ticket.opened.parent ? Json(ticket.opened.parent->value) : Json(nullptr)},
                    {"waits_for", waits_for(ticket)}});
  }
  return {{"count", open.size()}, {"shown", list}};
}

}  // namespace kernelsmith::ui
