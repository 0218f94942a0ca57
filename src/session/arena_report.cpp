// An evaluation in the words of an arena: traces of FlashInfer-Bench, the score of SOL-ExecBench.
#include <algorithm>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "arena_schema.hpp"

namespace kernelsmith {
namespace {

using Json = nlohmann::ordered_json;

const SourceFile* file_of(const Task& task, std::string_view path) {
  const auto found = std::ranges::find(task.files, path, &SourceFile::path);
  return found == task.files.end() ? nullptr : &*found;
}

/// The arena's workloads by the names that they have in the task.
struct Workloads {
  arena::Definition definition;
  std::vector<std::pair<std::string, arena::Workload>> named = {};

  /// The workload of the shape, whose name may end with a variant: the one with the longest name that fits.
  const arena::Workload* find(const std::string& shape) const {
    const std::pair<std::string, arena::Workload>* best = nullptr;
    for (const auto& one : named)
      if ((one.first.empty() || (shape + " ").starts_with(one.first + " ")) &&
          (best == nullptr || one.first.size() > best->first.size()))
        best = &one;
    return best == nullptr ? nullptr : &best->second;
  }
};

Result<Workloads> workloads_of_arena(const Task& task) {
  const SourceFile* const definition = file_of(task, arena::kDefinitionFile);
  const SourceFile* const lines = file_of(task, arena::kWorkloadsFile);
  if (task.backend != "torch" || definition == nullptr || lines == nullptr)
    return fail(ErrorCode::invalid_argument, "the task has no workloads of FlashInfer-Bench or SOL-ExecBench",
                task.name, "`kernelsmith init` writes them beside the task (docs/arenas.md)");
  auto read = arena::parse_definition(definition->text, definition->path);
  if (!read) return read.error();
  const auto workloads = arena::parse_workloads(lines->text, lines->path);
  if (!workloads) return workloads.error();
  const auto settings = torch_settings(task);
  if (!settings) return settings.error();
  const std::vector<TorchWorkload> told = workloads_of(*settings);
  Workloads made{std::move(*read)};
  for (std::size_t i = 0; i < std::min(told.size(), workloads->size()); ++i)
    made.named.emplace_back(told[i].name, (*workloads)[i]);
  return made;
}

std::string status_of(const Rejection& rejection) {
  if (rejection.code == RejectionCode::timed_out || rejection.code == RejectionCode::too_slow)
    return "TIMEOUT";
  if (rejection.stage == Stage::correctness) return "INCORRECT_NUMERICAL";
  return rejection.stage <= Stage::plan ? "COMPILE_ERROR" : "RUNTIME_ERROR";
}

/// The judge keeps the worst error as a share of the tolerance, and no absolute or relative one. Their schema
/// writes NaN as a text.
Json correctness_of(const ShapeResult& shape) {
  return {{"max_relative_error", "NaN"},
          {"max_absolute_error", "NaN"},
          {"extra", {{"share_of_tolerance", shape.error}}}};
}

Json evaluation_of(const Evaluation& evaluation, const ShapeResult& shape, const TraceContext& context) {
  const Rejection* const rejection = evaluation.rejection();
  const Report& report = evaluation.report();
  Json told = {{"status", rejection ? status_of(*rejection) : "PASSED"},
               {"environment",
                {{"hardware", report.hardware.empty() ? "unknown" : report.hardware},
                 {"libs", {{"kernelsmith", context.version}, {"toolchain", report.toolchain}}}}},
               {"timestamp", context.timestamp},
               {"log", rejection ? rejection->diagnostics : ""},
               {"correctness", nullptr},
               {"performance", nullptr}};
  if (!rejection || rejection->stage == Stage::correctness) told["correctness"] = correctness_of(shape);
  if (!rejection)
    told["performance"] = {{"latency_ms", shape.runtime_us->median / 1e3},
                           {"reference_latency_ms", shape.runtime_us->median * shape.speedup->median / 1e3},
                           {"speedup_factor", shape.speedup->median}};
  return told;
}

// ---- SOL-ExecBench's score.

struct Bound {
  double baseline_ms = 0, sol_ms = 0;
};

/// The name of the definition in "L1__066_masked_softmax".
std::string_view without_number(std::string_view key) {
  if (const auto level = key.find("__"); level != key.npos) key.remove_prefix(level + 2);
  const auto digits = key.find_first_not_of("0123456789");
  return digits != key.npos && digits > 0 && key[digits] == '_' ? key.substr(digits + 1) : key;
}

/// The list of the definition's bounds in the file: the file itself, or `workloads` of the definition in
/// `kernels`.
Json bounds_in(const Json& file, const std::string& definition) {
  if (file.is_array()) return file;
  if (!file.is_object() || !file.contains("kernels") || !file["kernels"].is_object()) return nullptr;
  for (const auto& [key, kernel] : file["kernels"].items())
    if ((key == definition || without_number(key) == definition) && kernel.is_object() &&
        kernel.value("sol_is_dummy", Json(false)) != true && kernel.contains("workloads"))
      return kernel["workloads"];
  return nullptr;
}

/// A workload is named by its uuid, or by all of its axes.
std::optional<Bound> bound_of(const Json& bounds, const arena::Definition& definition,
                              const arena::Workload& workload) {
  const auto axes = arena::axes_at(definition, workload);
  const auto number = [](const Json& one, const char* key) {
    return one.contains(key) && one[key].is_number() ? one[key].get<double>() : -1;
  };
  for (const Json& one : bounds) {
    if (!one.is_object()) continue;
    const Json uuid = one.value("uuid", Json()), given = one.value("axes", Json());
    const auto fits = [&] {
      if (uuid.is_string()) return uuid == Json(workload.uuid);
      if (!given.is_object() || !axes) return false;
      return std::ranges::all_of(*axes, [&](const auto& axis) {
        return !given.contains(axis.first) || given[axis.first] == Json(axis.second);
      });
    };
    const Bound found{number(one, "baseline_latency_ms"), number(one, "sol_ms")};
    if (fits() && found.baseline_ms > 0 && found.sol_ms >= 0) return found;
  }
  return {};
}

double score_of(double us, const Bound& bound) {
  const double ms = us / 1e3, gap = bound.baseline_ms - bound.sol_ms;
  if (gap <= 0) return ms <= bound.sol_ms ? 1 : 0;  // as in the arena's sol_score.py
  return 1 / (1 + (ms - bound.sol_ms) / gap);
}

/// The lines "MICROSECONDS  NAME" of the backend's rooflines.
std::map<std::string, double> rooflines_in(const Report& report) {
  std::map<std::string, double> least_us;
  for (const Artifact& artifact : report.artifacts) {
    if (artifact.name != "roofline.txt") continue;
    std::istringstream lines(artifact.text);
    double us = 0;
    for (std::string name; lines >> us && std::getline(lines >> std::ws, name);) least_us[name] = us;
  }
  return least_us;
}

}  // namespace

Result<std::string> trace_lines(const Task& task, const std::string& solution, const Evaluation& evaluation,
                                const TraceContext& context) {
  const auto workloads = workloads_of_arena(task);
  if (!workloads) return workloads.error();
  std::vector<ShapeResult> shapes;
  for (const ShapeResult& shape : evaluation.report().shapes)
    if (evaluation.accepted() ? shape.timed && shape.runtime_us && shape.speedup : shape.correct == false)
      shapes.push_back(shape);
  if (shapes.empty() && !evaluation.accepted())  // rejected before any workload ran: none of them works
    for (const auto& [name, workload] : workloads->named) shapes.emplace_back().shape = name;
  std::string lines;
  std::set<const arena::Workload*> told;
  for (const ShapeResult& shape : shapes)
    if (const arena::Workload* const workload = workloads->find(shape.shape);
        workload != nullptr && told.insert(workload).second)
      lines += Json{{"definition", workloads->definition.name},
                    {"workload", Json::parse(workload->text)},
                    {"solution", solution},
                    {"evaluation", evaluation_of(evaluation, shape, context)}}
                   .dump(-1, ' ', false, Json::error_handler_t::replace) +
               "\n";
  return lines;
}

Result<SolScore> sol_score(const Task& task, const Report& report,
                           const std::optional<std::filesystem::path>& bounds) {
  SolScore made;
  const auto rooflines = rooflines_in(report);
  Json given;
  Result<Workloads> workloads = Workloads{};
  if (bounds) {
    workloads = workloads_of_arena(task);
    if (!workloads) return workloads.error();
    const auto text = read_text_file(*bounds);
    if (!text) return text.error();
    given = bounds_in(Json::parse(*text, nullptr, false), workloads->definition.name);
    if (!given.is_array())
      return fail(ErrorCode::bad_input, "the file has no bounds for '" + workloads->definition.name + "'",
                  bounds->string(), "docs/arenas.md shows both forms");
  }
  for (const ShapeResult& shape : report.shapes) {
    if (!shape.timed || !shape.runtime_us || !shape.speedup) continue;
    std::optional<Bound> bound;
    if (bounds) {
      if (const auto* const workload = workloads->find(shape.shape))
        bound = bound_of(given, workloads->definition, *workload);
    } else if (const auto least = rooflines.find(shape.shape); least != rooflines.end()) {
      bound = {shape.runtime_us->median * shape.speedup->median / 1e3, least->second / 1e3};
    }
    if (bound)
      made.of.emplace_back(shape.shape, score_of(shape.runtime_us->median, *bound));
    else
      ++made.without_bound;
  }
  for (const auto& [name, score] : made.of) made.mean += score / static_cast<double>(made.of.size());
  return made;
}

}  // namespace kernelsmith
