// The programs of a run as CSV, one record for each: what tables and plots of a tuner's results need.
#include <algorithm>
#include <ostream>
#include <utility>

#include <kernelsmith/code/knob_setting.hpp>
#include <kernelsmith/core/csv.hpp>
#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith {
namespace {

std::string number(const std::optional<Measurement>& measurement, double Measurement::*of) {
  return measurement ? number_text((*measurement).*of) : "";
}

/// The value of each knob by its name; knobs without a name are numbered.
std::vector<std::pair<std::string, std::string>> values_of(const Source& source) {
  std::vector<std::pair<std::string, std::string>> values;
  const auto setting = knob_setting(source);
  for (std::size_t i = 0; setting && i < setting->knobs.size(); ++i) {
    const KnobList& knob = setting->knobs[i];
    values.emplace_back(knob.name.empty() ? "knob " + std::to_string(i + 1) : knob.name,
                        knob.values[setting->point[i]]);
  }
  return values;
}

std::vector<std::string> cells_of(const Individual& one) {
  const Program& program = *one.program;
  const Evaluation& evaluation = one.evaluation;
  const Rejection* rejection = evaluation.rejection();
  const Report& report = evaluation.report();
  std::string parents;
  for (const ProgramId parent : program.parents)
    parents += (parents.empty() ? "" : " ") + std::to_string(parent.value);
  std::vector<std::string> cells = {std::to_string(program.id.value), std::move(parents),
                                    std::string(name_of(program.origin)),
                                    rejection ? std::string(name_of(rejection->code)) : "accepted"};
  const auto fitness = evaluation.metrics() ? std::optional(evaluation.metrics()->fitness()) : std::nullopt;
  for (const auto& measurement : {fitness, report.speedup, report.runtime_us})
    for (double Measurement::*of : {&Measurement::median, &Measurement::low, &Measurement::high})
      cells.push_back(rejection ? "" : number(measurement, of));
  return cells;
}

}  // namespace

Status export_table(const RunView& view, std::ostream& out) {
  std::vector<std::string> head = {"program",        "parents",      "origin",       "verdict",
                                   "fitness",        "fitness_low",  "fitness_high", "speedup",
                                   "speedup_low",    "speedup_high", "runtime_us",   "runtime_us_low",
                                   "runtime_us_high"};
  const std::size_t fixed = head.size();
  std::vector<std::pair<std::vector<std::string>, std::vector<std::pair<std::string, std::string>>>> rows;
  for (const auto& [id, record] : view.state.programs()) {
    const auto one = view.individual(id);
    if (!one) return one.error();
    rows.emplace_back(cells_of(**one), values_of((*one)->program->source));
    for (const auto& [name, value] : rows.back().second)
      if (std::find(head.begin() + static_cast<std::ptrdiff_t>(fixed), head.end(), name) == head.end())
        head.push_back(name);
  }
  out << escape_controls(csv_line(head));
  for (auto& [cells, knobs] : rows) {
    cells.resize(head.size());
    for (const auto& [name, value] : knobs)
      *(cells.begin() + (std::find(head.begin() + static_cast<std::ptrdiff_t>(fixed), head.end(), name) -
                         head.begin())) = value;
    out << escape_controls(csv_line(cells));
  }
  if (!out.flush()) return fail(ErrorCode::io, "the export cannot be written");
  return {};
}

}  // namespace kernelsmith
