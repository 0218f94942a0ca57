#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/code/diff.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/code/text.hpp>
#include <kernelsmith/session/program_diff.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {
namespace {

constexpr const char* kKernels = "kernels.txt";
constexpr const char* kPlan = "plan.txt";

std::string diff_of_texts(const std::string& name, std::string a, std::string b) {
  const auto before = Source::create({{name, std::move(a)}}), after = Source::create({{name, std::move(b)}});
  return before && after ? unified_diff(*before, *after) : std::string();
}

/// Compares block by block if both have the same blocks, else as a whole.
std::vector<BlockDiff> source_diff(const Source& a, const Source& b) {
  const auto blocks = find_blocks(a);
  const auto texts_a = block_texts(a), texts_b = block_texts(b);
  const bool alike = blocks && texts_a && texts_b && !texts_a->empty() &&
                     texts_a->size() == texts_b->size() && check_frozen(a, b);
  std::vector<BlockDiff> changed;
  if (!alike) {
    if (std::string diff = unified_diff(a, b); !diff.empty()) changed.push_back({"", 0, std::move(diff)});
    return changed;
  }
  for (std::size_t i = 0; i < texts_a->size(); ++i) {
    if ((*texts_a)[i] == (*texts_b)[i]) continue;
    const std::string& file = a.files()[(*blocks)[i].file].path;
    changed.push_back({file, i + 1, diff_of_texts(file, (*texts_a)[i], (*texts_b)[i])});
  }
  return changed;
}

/// The lines of kernels.txt by kernel.
std::map<std::string, std::vector<std::string>> kernels_in(const std::string& table) {
  constexpr std::string_view kGrid = ": grid ";
  std::map<std::string, std::vector<std::string>> kernels;
  for (const std::string_view line : lines_of(table)) {
    const std::string_view whole = without_newline(line);
    const auto split = whole.rfind(kGrid);
    if (split != whole.npos)
      kernels[std::string(whole.substr(0, split))].emplace_back(whole.substr(split + 2));
  }
  return kernels;
}

std::vector<KernelDiff> kernel_diff(const std::string& a, const std::string& b) {
  auto before = kernels_in(a), after = kernels_in(b);
  std::set<std::string> names;
  for (const auto* const side : {&before, &after})
    for (const auto& [name, lines] : *side) names.insert(name);
  std::vector<KernelDiff> changed;
  for (const std::string& name : names)
    if (before[name] != after[name]) changed.push_back({name, before[name], after[name]});
  return changed;
}

const std::map<std::string, double>& features_of(const Individual& one) {
  static const std::map<std::string, double> kNone;
  const Metrics* const metrics = one.evaluation.metrics();
  return metrics ? metrics->features() : kNone;
}

/// Knobs by name; empty if one is invalid, as in some rejected programs.
std::map<std::string, std::string> knobs_of(const Source& source) {
  std::map<std::string, std::string> values;
  if (const auto knobs = find_knobs(source))
    for (const Knob& knob : *knobs) values.emplace(knob.name, knob.value());
  return values;
}

bool is_knob(const std::string& feature) { return feature.starts_with("knob."); }

std::vector<ShapeTimes> times_of(const Individual& a, const Individual& b) {
  std::vector<ShapeTimes> all;
  using Side = std::optional<Measurement> ShapeTimes::*;
  const auto add = [&](const Individual& one, Side side, Side speedup) {
    for (const ShapeResult& shape : one.evaluation.report().shapes) {
      if (!shape.timed || !shape.runtime_us) continue;
      auto found = std::ranges::find(all, shape.shape, &ShapeTimes::shape);
      if (found == all.end()) found = all.insert(all.end(), {shape.shape, {}, {}, {}, {}});
      (*found).*side = shape.runtime_us;
      (*found).*speedup = shape.speedup;
    }
  };
  add(a, &ShapeTimes::a, &ShapeTimes::speedup_a);
  add(b, &ShapeTimes::b, &ShapeTimes::speedup_b);
  return all;
}

std::string text_in(const Logs& logs, const char* name) {
  const auto found = logs.find(name);
  return found != logs.end() ? found->second : std::string();
}

/// The latest logs of each program, from one pass over the journal.
Result<std::map<ProgramId, Logs>> logs_of(const RunStore& store, std::span<const ProgramId> programs) {
  std::map<ProgramId, std::set<std::uint32_t>> attempts;
  const auto note = [&](std::uint64_t, const Event& event) -> Status {
    const auto* const arrived = std::get_if<EvaluationArrived>(&event);
    if (arrived && std::ranges::find(programs, arrived->program) != programs.end())
      attempts[arrived->program].insert(arrived->attempt);
    return {};
  };
  if (const Status read = store.replay(0, note); !read) return read.error();
  std::map<ProgramId, Logs> logs;
  for (const auto& [program, numbers] : attempts)
    for (const std::uint32_t attempt : numbers) {
      const auto artifacts = store.artifacts(program, attempt);
      if (!artifacts) return artifacts.error();
      for (const Artifact& artifact : *artifacts) logs[program][artifact.name] = artifact.text;
    }
  return logs;
}

}  // namespace

std::optional<Measurement> gain_over(const Report& parent, const Report& child) {
  const auto& ours = child.over_yardstick;
  const auto& theirs = parent.over_yardstick;
  if (!ours || !theirs || !(theirs->low > 0) || !(ours->low > 0) || !std::isfinite(theirs->high)) return {};
  Measurement gain = *ours;
  gain.low = ours->low / theirs->high;
  gain.median = ours->median / theirs->median;
  gain.high = ours->high / theirs->low;
  gain.samples = std::min(ours->samples, theirs->samples);
  return gain;
}

std::optional<Measurement> ShapeTimes::ratio() const {
  const bool by_speed = speedup_a && speedup_b;
  const auto& more = by_speed ? speedup_b : a;
  const auto& less = by_speed ? speedup_a : b;
  if (!more || !less || more->low <= 0 || less->low <= 0) return std::nullopt;
  return Measurement{more->median / less->median, more->low / less->high, more->high / less->low,
                     std::min(more->samples, less->samples), "x"};
}

ProgramDiff diff_of(IndividualPtr a, const Logs& logs_a, IndividualPtr b, const Logs& logs_b) {
  ProgramDiff diff;
  diff.source = source_diff(a->program->source, b->program->source);
  diff.kernels = kernel_diff(text_in(logs_a, kKernels), text_in(logs_b, kKernels));
  diff.plan = diff_of_texts(kPlan, text_in(logs_a, kPlan), text_in(logs_b, kPlan));
  diff.gain = gain_over(a->evaluation.report(), b->evaluation.report());
  for (const auto& [name, value] : knobs_of(a->program->source)) diff.knobs[name].first = value;
  for (const auto& [name, value] : knobs_of(b->program->source)) diff.knobs[name].second = value;
  for (const auto& [name, value] : features_of(*a)) diff.features[name].first = value;
  for (const auto& [name, value] : features_of(*b)) diff.features[name].second = value;
  const auto is_same = [](const auto& one) { return one.second.first == one.second.second; };
  std::erase_if(diff.knobs, is_same);
  std::erase_if(diff.features, [&](const auto& one) { return is_same(one) || is_knob(one.first); });
  diff.shapes = times_of(*a, *b);
  for (const auto& [one, logs] : {std::pair(a, &logs_a), std::pair(b, &logs_b)}) {
    const std::string who = "program " + std::to_string(one->program->id.value);
    if (!logs->contains(kPlan)) diff.missing.push_back(who + " has no plan in the run");
    if (!one->evaluation.accepted()) diff.missing.push_back(who + " was rejected, so it has no times");
  }
  diff.a = std::move(a);
  diff.b = std::move(b);
  return diff;
}

Result<ProgramDiff> diff_programs(const RunView& view, ProgramId a, ProgramId b) {
  for (const ProgramId id : {a, b})
    if (!view.state.programs().contains(id))
      return fail(ErrorCode::not_found, "the run has no program " + std::to_string(id.value),
                  view.folder.string(), "kernelsmith export prints them all");
  auto first = view.individual(a), second = view.individual(b);
  if (!first) return first.error();
  if (!second) return second.error();
  const auto store = RunStore::open_read_only(view.folder);
  if (!store) return store.error();
  auto logs = logs_of(**store, std::array{a, b});
  if (!logs) return logs.error();
  return diff_of(std::move(*first), (*logs)[a], std::move(*second), (*logs)[b]);
}

}  // namespace kernelsmith
