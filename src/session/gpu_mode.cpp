// Problems of GPU MODE's reference-kernels: task.yml, reference.py, and the modules that it imports.
#include "gpu_mode.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/number_text.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/kernelbench.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "arena_words.hpp"
#include "arena_yaml.hpp"

namespace kernelsmith {
namespace arena {
namespace {

namespace fs = std::filesystem;

// The defaults of match_reference in the arena's utils.py.
constexpr double kUsualRtol = 1e-5, kUsualAtol = 1e-8;

/// A value as YAML's number, truth value or text.
std::string literal(const std::string& text) {
  std::string word = lower_case(text);
  if (word == "true" || word == "false") return word;
  return number_in<double>(text) ? text : in_quotes(text);
}

/// Adds a case. The same arguments again, without their seed, add weight; a test of a benchmark's adds
/// nothing.
void add_case(YamlMap& in, bool check, GpuModeProblem& problem) {
  TaskWorkload one;
  one.check = check;
  bool has_list = false;
  for (const std::string& key : in.keys()) {
    has_list = has_list || in.kind(key) != YamlKind::scalar;
    std::string value;
    if (in.kind(key) == YamlKind::scalar) in.required(key, value);
    if (key == "seed") problem.has_seed = true;
    if (key == "seed") continue;
    one.arguments.emplace_back(key, literal(value));
  }
  ++problem.cases;
  if (has_list) return void(++problem.left_out);
  const auto same = std::ranges::find(problem.workloads, one.arguments, &TaskWorkload::arguments);
  if (same == problem.workloads.end()) return problem.workloads.push_back(std::move(one));
  if (!check) ++same->weight;
}

/// Names each workload after its arguments, without those that all have.
void name_by_differences(std::vector<TaskWorkload>& workloads) {
  const auto differs = [&](const std::pair<std::string, std::string>& argument) {
    return workloads.size() == 1 || std::ranges::any_of(workloads, [&](const TaskWorkload& one) {
             return std::ranges::find(one.arguments, argument) == one.arguments.end();
           });
  };
  for (TaskWorkload& one : workloads) {
    std::vector<std::string> words;
    for (const auto& argument : one.arguments)
      if (differs(argument)) words.push_back(argument.first + " = " + argument.second);
    std::erase(one.name = in_list(words), '"');
  }
}

Result<GpuModeProblem> read_task_yml(const fs::path& file) {
  const auto text = read_text_file(file);
  if (!text) return text.error();
  GpuModeProblem problem;
  const Status read = read_yaml(*text, file.string(), [&](YamlMap& in) {
    for (const std::string& key : in.keys()) in.kind(key);  // the arena has more keys than a task needs
    in.optional("lang", problem.language);
    in.optional("description", problem.description);
    in.optional("ranking_by", problem.ranking);
    std::string several = "false";
    in.optional("multi_gpu", several);
    problem.multi_gpu = lower_case(several) == "true";
    in.optional_maps("files", [&](YamlMap& one) {
      auto& [name, source] = problem.modules.emplace_back();
      one.required("name", name);
      one.required("source", source);
    });
    in.optional_maps("benchmarks", [&](YamlMap& one) { add_case(one, false, problem); });
    in.optional_maps("tests", [&](YamlMap& one) { add_case(one, true, problem); });
  });
  if (!read) return read.error();
  name_by_differences(problem.workloads);
  if (std::ranges::all_of(problem.workloads, &TaskWorkload::check))  // a task needs a timed one
    for (TaskWorkload& one : problem.workloads) one.check = false;
  return problem;
}

Status check_fits(const GpuModeProblem& problem, const std::string& reference, const fs::path& folder) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::unsupported, why, folder.string(),
                "docs/arenas.md says which problems become tasks");
  };
  if (problem.language != "py")
    return refuse("the problem is written in '" + problem.language + "', not in Python");
  if (problem.multi_gpu) return refuse("the problem needs several GPUs, and a torch task has one");
  if (!has_line(reference, "check_implementation =") && !has_line(reference, "def check_implementation("))
    return refuse("reference.py does not define check_implementation()");
  for (const char* name : {"ref_kernel", "generate_input"})
    if (!has_line(reference, "def " + std::string(name) + "("))
      return refuse("reference.py does not define " + std::string(name) + "()");
  for (const char* name : {"class Model(", "def get_inputs(", "def check(", "from __future__ import"})
    if (has_line(reference, name))
      return refuse("reference.py has a line that a task cannot keep: " + std::string(name));
  if (reference.find("float4_e2m1") != reference.npos)
    return refuse("the problem has 4-bit floats, and a torch task has no 4-bit types yet");
  if (problem.workloads.empty())
    return refuse(problem.cases == 0
                      ? "task.yml has no tests and no benchmarks"
                      : "all cases have lists as arguments, and workloads have only numbers and texts");
  return {};
}

/// The figures of `check_implementation = make_match_reference(ref_kernel, rtol=..., atol=...)`; nothing for
/// any other check.
std::optional<std::pair<double, double>> tolerance_in(std::string_view reference) {
  constexpr std::string_view kPlain = "check_implementation = make_match_reference(ref_kernel";
  const std::size_t at = reference.rfind(kPlain);
  if (at == reference.npos || (at > 0 && reference[at - 1] != '\n')) return {};
  std::string_view rest = reference.substr(at + kPlain.size());
  const std::size_t end = rest.find(')');
  if (end == rest.npos) return {};
  std::pair<double, double> found{kUsualRtol, kUsualAtol};
  for (rest = rest.substr(0, end); !trimmed(rest).empty();) {
    const std::size_t comma = rest.find(','), equals = rest.find('=');
    if (comma == rest.npos || equals == rest.npos) return {};
    rest = rest.substr(comma + 1);
    const std::string_view one = rest.substr(0, rest.find(','));
    const std::string_view name = trimmed(one.substr(0, one.find('=')));
    const auto value = number_in<double>(trimmed(one.substr(std::min(one.find('=') + 1, one.size()))));
    if (!value || (name != "rtol" && name != "atol")) return {};
    (name == "rtol" ? found.first : found.second) = *value;
    rest = rest.substr(one.size());
  }
  return found;
}

/// The arena has no key for it; the shortest type that is named says how precise products must be.
std::string precision_of(std::string_view reference) {
  for (const auto& [type, precision] :
       {std::pair{"bfloat16", "bf16"}, {"float16", "fp16"}, {"torch.half", "fp16"}})
    if (reference.find(type) != reference.npos) return precision;
  return "fp32";
}

/// Keeps so many workloads: tests go first, and the rest is spread over the arena's order.
void keep(std::size_t most, std::vector<TaskWorkload>& workloads) {
  const auto timed = static_cast<std::size_t>(std::ranges::count(workloads, false, &TaskWorkload::check));
  const auto kept_of = [&](std::size_t begin, std::size_t end, std::size_t room) {
    std::vector<TaskWorkload> kept;
    std::vector<double> places(end - begin);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i);
    for (const std::size_t i : spread(places, room)) kept.push_back(workloads[begin + i]);
    return kept;
  };
  std::vector<TaskWorkload> kept = kept_of(0, timed, most);
  for (TaskWorkload& test : kept_of(timed, workloads.size(), most - kept.size()))
    kept.push_back(std::move(test));
  workloads = std::move(kept);
}

}  // namespace
}  // namespace arena

Result<ArenaTask> task_of_gpu_mode(const std::filesystem::path& folder) {
  using namespace arena;
  auto problem = read_task_yml(folder / "task.yml");
  if (!problem) return problem.error();
  const auto reference = read_text_file(folder / "reference.py");
  if (!reference) return reference.error();
  if (const Status fits = check_fits(*problem, *reference, folder); !fits) return fits.error();
  problem->tolerance = tolerance_in(*reference);
  const auto text = gpu_mode_reference(*problem, *reference, folder);
  if (!text) return text.error();
  const std::filesystem::path place = std::filesystem::absolute(folder).lexically_normal();
  const std::string name = problem_name(place.has_filename() ? place : place.parent_path());
  TaskText task{
      .arena = "GPU MODE",
      .name = name,
      .description =
          "The problem " + name + " of GPU MODE. " + std::string(trimmed(problem->description)) +
          "\nforward(data) gets what generate_input() below returns. In the place of a buffer for an "
          "output, data has {'empty': shape, 'dtype': name}: allocate the output.",
      .precision = arena::precision_of(*reference),
      .workloads = problem->workloads};
  const std::size_t all = task.workloads.size();
  keep(kMostWorkloads, task.workloads);
  if (task.workloads.size() < all)
    task.notes.push_back("the task has " + std::to_string(task.workloads.size()) + " of " +
                         std::to_string(all) + " cases, because it can have no more");
  if (problem->left_out > 0)
    task.notes.push_back(std::to_string(problem->left_out) + " of " + std::to_string(problem->cases) +
                         " cases are left out, because they have lists as arguments");
  task.tolerance = problem->tolerance
                       ? tolerance_line({problem->tolerance->first, problem->tolerance->second})
                       : "# The reference has the arena's own check, which replaces a tolerance.\n";
  if (problem->ranking == "last")
    task.notes.emplace_back("the arena ranks by the last benchmark alone; here all benchmarks count");
  ArenaTask made{.name = task.name,
                 .chosen = std::to_string(task.workloads.size()) + " of " + std::to_string(problem->cases),
                 .notes = task.notes};
  made.files = {{"task.yaml", task_yaml(std::move(task))}, {"reference.py", *text}};
  return made;
}

}  // namespace kernelsmith
