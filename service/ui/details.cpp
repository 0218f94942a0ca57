// What the page shows of one program: its sources, diff, verdict, prompt and reply, within limits.
#include <algorithm>

#include "evaluation_json.hpp"
#include "run_summary.hpp"
#include "search_json.hpp"
#include "ui_json.hpp"

namespace kernelsmith::ui {
namespace {

// More than a reader scrolls through; the run has it all (kernelsmith export).
constexpr std::size_t kMostTextBytes = 400'000;
constexpr std::size_t kMostDiffBytes = 100'000;
constexpr std::size_t kMostFiles = 100;
constexpr std::size_t kMostIds = 50;

/// The first ids, up to the limit.
Json ids_of(const std::vector<ProgramId>& ids) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(ids.size(), kMostIds); ++i) list.push_back(ids[i].value);
  return {{"count", ids.size()}, {"shown", list}};
}

/// All of them together in at most kMostTextBytes.
Json files_of(const Source& source) {
  Json list = Json::array();
  std::size_t left = kMostTextBytes;
  for (const SourceFile& file : source.files()) {
    if (list.size() == kMostFiles) break;
    Json one = cut_text(file.text, left);
    one["path"] = file.path;
    left -= std::min(left, file.text.size());
    list.push_back(std::move(one));
  }
  return list;
}

Json program_json(const RunView& view, const Individual& one) {
  const Program& program = *one.program;
  return {{"program", program.id.value},
          {"origin", name_of(program.origin)},
          {"parents", ids_of(program.parents)},
          {"children", ids_of(view.state.lineage().children(program.id))},
          {"files", files_of(program.source)},
          {"file_count", program.source.files().size()},
          {"evaluation", evaluation_json(one.evaluation)}};
}

}  // namespace

std::string lineage_details(const RunView& view) {
  const auto& steps = view.lineage_of_best;
  Json list = Json::array();
  for (std::size_t i = steps.size() - std::min(steps.size(), kShownSteps); i < steps.size(); ++i)
    list.push_back({{"step", i},
                    {"program", steps[i].individual->program->id.value},
                    {"diff", cut_text(steps[i].diff, kMostDiffBytes)}});
  return one_line({{"steps", list}});
}

Result<std::string> program_details(const RunView& view, ProgramId id) {
  if (!view.state.programs().contains(id))
    return fail(ErrorCode::not_found, "the run has no program " + std::to_string(id.value));
  const auto individual = view.state.individual(id);
  if (!individual) return individual.error();
  return one_line(program_json(view, **individual));
}

}  // namespace kernelsmith::ui
