// Reads the folders of FlashInfer-Bench and SOL-ExecBench, and chooses workloads.
#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/config/text.hpp>
#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "arena_schema.hpp"
#include "arena_task.hpp"
#include "arena_words.hpp"
#include "arena_yaml.hpp"
#include "safetensors.hpp"

namespace kernelsmith {
namespace arena {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostStored = std::uint64_t{3} << 20;  // 4 MiB in base64, the most of a task's file
constexpr std::size_t kMostShown = 8;                          // names in a hint

/// The bytes of all inputs and outputs, as a measure of size.
double bytes_of(const Definition& definition, const Axes& axes) {
  double bytes = 0;
  for (const auto* arguments : {&definition.inputs, &definition.outputs})
    for (const Argument& one : *arguments) {
      double size = one.is_number ? 0 : element_bytes(one.dtype);
      for (const std::int64_t extent : extents_at(one, axes)) size *= static_cast<double>(extent);
      bytes += size;
    }
  return bytes;
}

Result<const Workload*> find_workload(const std::vector<Workload>& workloads, const std::string& begins,
                                      const std::string& where) {
  const Workload* found = nullptr;
  for (const Workload& one : workloads) {
    if (one.uuid == begins) return &one;
    if (!one.uuid.starts_with(begins)) continue;
    if (found != nullptr)
      return fail(ErrorCode::invalid_argument, "more than one workload begins with '" + begins + "'", where,
                  found->uuid + " and " + one.uuid + " do; write more of it");
    found = &one;
  }
  if (found != nullptr) return found;
  std::vector<std::string> uuids;
  for (const Workload& one : workloads)
    if (uuids.size() < kMostShown) uuids.push_back(one.uuid);
  return fail(ErrorCode::not_found, "no workload begins with '" + begins + "'", where,
              "there are " + std::to_string(workloads.size()) + ": " + in_list(uuids) +
                  (uuids.size() < workloads.size() ? ", ..." : ""));
}

/// The workloads that are named, in the arena's order; all if none is.
Result<std::vector<const Workload*>> named_in(const std::vector<Workload>& workloads,
                                              const WorkloadChoice& choice, const std::string& where) {
  std::vector<const Workload*> named;
  for (const std::string& begins : choice.uuids) {
    const auto found = find_workload(workloads, begins, where);
    if (!found) return found.error();
    named.push_back(*found);
  }
  for (const Workload& one : workloads)
    if (choice.uuids.empty()) named.push_back(&one);
  std::ranges::sort(named);
  named.erase(std::unique(named.begin(), named.end()), named.end());
  return named;
}

/// The file of a workload's values: below `root` or a folder above it. As in SOL-ExecBench's harness the path
/// may begin with folders that are not there.
std::optional<fs::path> find_values(const fs::path& root, const fs::path& named) {
  std::error_code error;
  for (fs::path above = fs::absolute(root, error).lexically_normal();; above = above.parent_path()) {
    for (fs::path part = named; !part.empty();) {
      if (fs::is_regular_file(above / part, error)) return above / part;
      fs::path rest;
      for (auto step = std::next(part.begin()); step != part.end(); ++step) rest /= *step;
      part = std::move(rest);
    }
    if (above == above.parent_path()) return {};
  }
}

/// Reads what the workload fixes. A file that has the same bytes as one of `problem` is not added again.
Status read_values(const fs::path& root, Use& use, Problem& problem) {
  std::vector<SourceFile> read;
  for (const Argument& input : problem.definition.inputs) {
    const Given given = given_for(*use.workload, input.name);
    if (given.kind != Given::Kind::safetensors) continue;
    const auto file = find_values(root, given.path);
    if (!file)
      return fail(ErrorCode::not_found, "the values of '" + input.name + "' are not there: " + given.path,
                  problem.definition.name + ", workload " + use.workload->uuid,
                  "get the data set's blob/ folder (Git LFS) and put it below " + root.string() +
                      " or a folder above it, or choose a workload without safetensors");
    const auto bytes =
        read_safetensor(*file, given.key, input.dtype, extents_at(input, use.axes), kMostStored);
    if (!bytes) return bytes.error();
    const std::string text = detail::base64_encode(*bytes);
    std::string& name = use.files[input.name];
    for (const SourceFile& kept : problem.values)
      if (kept.text == text) name = kept.path;
    if (!name.empty()) continue;
    name = input.name + "-" + std::to_string(problem.values.size() + read.size() + 1) + ".b64";
    if (!text.empty()) read.push_back({name, text});  // no file: a tensor without elements
  }
  problem.values.insert(problem.values.end(), read.begin(), read.end());
  return {};
}

struct Files {
  fs::path definition, workloads;
  fs::path root;  ///< where paths of values begin
};

/// Adds the workloads that a task can have. Errors: why none can.
Status add_uses(const std::vector<const Workload*>& workloads, const fs::path& root, Problem& problem) {
  std::optional<Error> first;
  std::size_t left_out = 0;
  for (const Workload* workload : workloads) {
    auto use = use_of(problem.definition, *workload);
    Status usable = use ? Status() : use.error();
    if (usable && !problem.uses.empty() &&
        !are_alike(problem.definition, *problem.uses.front().workload, *workload))
      usable = fail(ErrorCode::unsupported, "it makes its inputs in another way than the first workload",
                    problem.definition.name + ", workload " + workload->uuid);
    if (usable) usable = read_values(root, *use, problem);
    if (usable) problem.uses.push_back(std::move(*use));
    if (!usable) ++left_out;
    if (!usable && !first) first = usable.error();
  }
  if (problem.uses.empty()) return *first;
  if (first)
    problem.notes.push_back(std::to_string(left_out) + " of " + std::to_string(workloads.size()) +
                            " workloads are left out, the first of them because " + first->message + " (" +
                            first->where + ")");
  return {};
}

/// Keeps so many, spread over the sizes, and the values that they need.
void keep(std::size_t most, Problem& problem) {
  if (problem.uses.size() <= most) return;
  std::vector<double> sizes;
  for (const Use& use : problem.uses) sizes.push_back(bytes_of(problem.definition, use.axes));
  std::vector<Use> kept;
  for (const std::size_t i : spread(sizes, most)) kept.push_back(problem.uses[i]);
  problem.uses = std::move(kept);
  std::erase_if(problem.values, [&](const SourceFile& file) {
    return std::ranges::none_of(problem.uses, [&](const Use& use) {
      return std::ranges::any_of(use.files, [&](const auto& one) { return one.second == file.path; });
    });
  });
}

Result<ArenaTask> read_task(Arena arena, const Files& files, const WorkloadChoice& choice) {
  const auto text = read_text_file(files.definition);
  if (!text) return text.error();
  const auto definition = parse_definition(*text, files.definition.string());
  if (!definition) return definition.error();
  if (const Status fits = check_definition(*definition); !fits) return fits.error();
  const auto lines = read_text_file(files.workloads);
  if (!lines && lines.error().code == ErrorCode::not_found)
    return fail(ErrorCode::not_found, "'" + definition->name + "' has no workloads", files.workloads.string(),
                "get them from the arena's data set");
  if (!lines) return lines.error();
  const auto workloads = parse_workloads(*lines, files.workloads.string());
  if (!workloads) return workloads.error();
  const auto named = named_in(*workloads, choice, files.workloads.string());
  if (!named) return named.error();
  Problem problem{arena, *definition};
  if (const Status added = add_uses(*named, files.root, problem); !added) return added.error();
  keep(choice.most, problem);
  ArenaTask task = write_arena_task(problem);
  task.chosen = std::to_string(problem.uses.size()) + " of " + std::to_string(workloads->size());
  return task;
}

/// The definition's file: definitions/OP/NAME.json.
Result<fs::path> find_definition(const fs::path& dataset, const std::string& name) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& group : fs::directory_iterator(dataset / "definitions", error)) {
    std::error_code ignored;  // a file beside the folders of operators is no folder
    for (const auto& file : fs::directory_iterator(group.path(), ignored)) {
      if (file.path().extension() != ".json") continue;
      if (file.path().stem() == name) return file.path();
      names.push_back(file.path().stem().string());
    }
  }
  if (error)
    return fail(ErrorCode::not_found, "this is not a data set of FlashInfer-Bench", dataset.string(),
                "it is a folder with definitions/OP/NAME.json and workloads/OP/NAME.jsonl");
  std::ranges::sort(names);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string letters = lower_case(name).substr(0, name.find('_'));
  std::vector<std::string> near;
  if (const auto best = nearest_name(name, views)) near.emplace_back(*best);
  for (const std::string& one : names)
    if (near.size() < kMostShown && one.starts_with(letters) && std::ranges::find(near, one) == near.end())
      near.push_back(one);
  return fail(ErrorCode::not_found, "there is no definition '" + name + "'",
              (dataset / "definitions").string(),
              near.empty() ? "there are " + std::to_string(names.size()) + ", none with a name like it"
                           : "near names: " + in_list(near));
}

}  // namespace
}  // namespace arena

bool is_arena_problem(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto has = [&](const std::filesystem::path& file) {
    return std::filesystem::is_regular_file(file, ignored);
  };
  if (path.extension() != ".json")
    return !has(path / "task.yaml") &&
           ((has(path / arena::kDefinitionFile) && has(path / arena::kWorkloadsFile)) ||
            (has(path / "task.yml") && has(path / "reference.py")));
  const auto group = std::filesystem::absolute(path, ignored).parent_path();
  return group.parent_path().filename() == "definitions" && has(path) &&
         has(group.parent_path().parent_path() / "workloads" / group.filename() /
             path.filename().replace_extension(".jsonl"));
}

Result<ArenaTask> task_of_arena(const std::filesystem::path& path, const std::string& policy) {
  std::error_code ignored;
  const auto made = [&] {
    if (path.extension() == ".json") {
      const auto file = std::filesystem::absolute(path, ignored);
      return task_of_flashinfer_bench(file.parent_path().parent_path().parent_path(), file.stem().string(),
                                      {});
    }
    return std::filesystem::exists(path / "task.yml", ignored) ? task_of_gpu_mode(path)
                                                               : task_of_sol_execbench(path, {});
  };
  auto task = made();
  if (!task) return task;
  const std::string usual = "  policy: own_kernels\n";
  std::string& yaml = task->files.front().text;  // with the key once, below the description
  yaml.replace(yaml.rfind(usual), usual.size(), "  policy: " + policy + "\n");
  return task;
}

Result<ArenaTask> task_of_flashinfer_bench(const std::filesystem::path& dataset,
                                           const std::string& definition, const WorkloadChoice& choice) {
  const auto file = arena::find_definition(dataset, definition);
  if (!file) return file.error();
  const auto group = file->parent_path().filename();
  return arena::read_task(arena::Arena::flashinfer_bench,
                          {*file, dataset / "workloads" / group / (definition + ".jsonl"), dataset}, choice);
}

Result<ArenaTask> task_of_sol_execbench(const std::filesystem::path& folder, const WorkloadChoice& choice) {
  return arena::read_task(arena::Arena::sol_execbench,
                          {folder / arena::kDefinitionFile, folder / arena::kWorkloadsFile, folder}, choice);
}

}  // namespace kernelsmith
