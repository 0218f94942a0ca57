// The documents of the page: a run within size limits, with data for its pictures, and one of its programs.
#include <algorithm>
#include <span>
#include <string_view>

#include <kernelsmith/code/diff.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/session/run_json.hpp>

#include "curve.hpp"
#include "values.hpp"

namespace kernelsmith {
namespace view_json {
namespace {

// How much of a run the page shows; `kernelsmith export` gives the complete run.
constexpr Extent kPage{
    .text_bytes = 16'000, .diff_bytes = 400'000, .steps = 40, .cells = 4000, .labels = 400, .logs = false};
constexpr std::size_t kMostDots = 1200;
constexpr std::size_t kMostTickets = 40;
constexpr std::size_t kMostIslands = 64;
constexpr std::size_t kMostSourceBytes = 400'000;
constexpr std::size_t kMostDiffBytes = 100'000;
constexpr std::size_t kMostFiles = 100;
constexpr std::size_t kMostIds = 50;

std::string folder_name(const RunView& view) {
  const std::filesystem::path folder = view.folder.lexically_normal();
  return (folder.has_filename() ? folder.filename() : folder.parent_path().filename()).string();
}

Json curve_object(const Curve& curve) {
  const auto step = [](const CurveStep& one) -> Json {
    return {{"at", one.point.at},
            {"program", one.point.program.value},
            {"fitness", one.point.fitness},
            {"low", one.low},
            {"high", one.high}};
  };
  const auto dot = [](const CurvePoint& one) {
    return Json::array({one.at, one.fitness, one.program.value});
  };
  return {{"evaluated", curve.evaluated},
          {"unit", curve.unit},
          {"steps", list_of(curve.steps, step)},
          {"accepted", list_of(curve.accepted, dot)},
          {"rejected", curve.rejected}};
}

Json islands_object(const RunView& view) {
  const Archipelago& archipelago = view.state.archipelago();
  Json list = Json::array();
  for (std::uint32_t i = 0; i < std::min(archipelago.size(), kMostIslands); ++i) {
    const Archive& archive = archipelago.island({i}).archive();
    const ArchiveStatistics statistics = archive.statistics();
    const IndividualPtr best = archive.best();
    list.push_back({{"island", i},
                    {"filled", statistics.filled},
                    {"mean", or_null(statistics.mean)},
                    {"best", best ? interval(score_of(view.shown(best)->evaluation)) : Json(nullptr)},
                    {"program", best ? Json(best->program->id.value) : Json(nullptr)},
                    {"sends_to", list_of(archipelago.topology().neighbours({i}),
                                         [](IslandId neighbour) { return neighbour.value; })}});
  }
  return {{"count", archipelago.size()}, {"shown", list}};
}

/// What the ticket waits for.
const char* waits_for(const OpenTicket& ticket) {
  if (ticket.answered()) return "its turn";
  const bool has_program =
      ticket.child() || ticket.kind == TicketKind::duel || ticket.kind == TicketKind::confirm;
  return has_program ? "evaluation" : "proposal";
}

std::string_view purpose_of(const OpenTicket& ticket) {
  if (ticket.opened.op) return name_of(*ticket.opened.op);
  if (ticket.opened.remeasurement) return name_of(*ticket.opened.remeasurement);
  return ticket.opened.within ? "trial" : "seed";
}

Json open_object(const RunView& view) {
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

/// The diff from the seed to the best program.
std::string whole_diff(const RunView& view) {
  const auto& steps = view.lineage_of_best;
  if (steps.size() < 2) return "";
  return unified_diff(steps.front().individual->program->source, steps.back().individual->program->source);
}

Json page_object(const RunView& view, const Curve& curve) {
  Json page = {{"kind", "run"}, {"name", folder_name(view)}};
  page.update(run_object(view, kPage));
  page.erase("folder");
  // A page is shown to others, so it must contain neither this machine's paths nor its servers.
  if (view.has_task)
    page["goes_on"] = goes_on(view.config.proposer.provider->traits(), folder_name(view), true);
  if (!page["best"].is_null()) {
    page["best"].erase("files");
    page["best"]["diff"] = cut(whole_diff(view), kMostDiffBytes);
  }
  page["calls_under_way"] = view.calls_under_way;
  page["answers_on_their_way"] = view.answers_on_their_way;
  page["curve"] = curve_object(curve);
  page["islands"] = islands_object(view);
  page["open"] = open_object(view);
  return page;
}

/// The first ids, up to the limit.
Json ids_object(std::span<const ProgramId> ids) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(ids.size(), kMostIds); ++i) list.push_back(ids[i].value);
  return {{"count", ids.size()}, {"shown", list}};
}

/// The files of a source, which together have at most kMostSourceBytes.
Json files_list(const Source& source) {
  Json list = Json::array();
  std::size_t left = kMostSourceBytes;
  for (const SourceFile& file : source.files()) {
    if (list.size() == kMostFiles) break;
    list.push_back({{"path", file.path}, {"text", cut(file.text, left)}});
    left -= std::min(left, file.text.size());
  }
  return list;
}

/// Knobs by name with the source's values; empty if one is invalid.
Json knobs_object(const Source& source) {
  Json object = Json::object();
  if (const auto knobs = find_knobs(source))
    for (const Knob& knob : *knobs) object[knob.name] = knob.value();
  return object;
}

Json program_object(const RunView& view, const Individual& one) {
  const Program& program = *one.program;
  return {{"program", program.id.value},
          {"origin", name_of(program.origin)},
          {"parents", ids_object(program.parents)},
          {"children", ids_object(view.state.lineage().children(program.id))},
          {"knobs", knobs_object(program.source)},
          {"files", files_list(program.source)},
          {"file_count", program.source.files().size()},
          {"evaluation", evaluation_object(one.evaluation, kPage)}};
}

}  // namespace
}  // namespace view_json

Result<std::string> page_json(const RunView& view) {
  const auto curve = view_json::curve_of(view, view_json::kMostDots);
  if (!curve) return curve.error();
  return view_json::one_line(view_json::page_object(view, *curve));
}

Result<std::string> program_json(const RunView& view, ProgramId id) {
  if (!view.state.programs().contains(id))
    return fail(ErrorCode::not_found, "the run has no program " + std::to_string(id.value));
  const auto individual = view.individual(id);
  if (!individual) return individual.error();
  return view_json::one_line(view_json::program_object(view, **individual));
}

}  // namespace kernelsmith
