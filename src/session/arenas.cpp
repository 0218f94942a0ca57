// Reads the folders of FlashInfer-Bench and SOL-ExecBench, and chooses the workload.
#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/config/nearest_name.hpp>
#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "arena_schema.hpp"
#include "arena_task.hpp"
#include "arena_words.hpp"
#include "safetensors.hpp"

namespace kernelsmith {
namespace arena {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostStored = std::uint64_t{3} << 20;  // 4 MiB in base64, the most of a task's file
constexpr std::size_t kMostShown = 8;                          // names in a hint

/// The bytes of all inputs and outputs, as a measure of size; 0 if an axis has no value.
double bytes_of(const Definition& definition, const Workload& workload) {
  const auto axes = axes_at(definition, workload);
  if (!axes) return 0;
  double bytes = 0;
  for (const auto* arguments : {&definition.inputs, &definition.outputs})
    for (const Argument& one : *arguments) {
      double size = one.is_number ? 0 : element_bytes(one.dtype);
      for (const std::int64_t extent : extents_at(one, *axes)) size *= static_cast<double>(extent);
      bytes += size;
    }
  return bytes;
}

/// The workload of median size; of an even number, the smaller of the two in the middle.
const Workload& median_of(const Definition& definition, const std::vector<Workload>& workloads) {
  std::vector<std::pair<double, const Workload*>> sizes;
  for (const Workload& one : workloads) sizes.emplace_back(bytes_of(definition, one), &one);
  std::ranges::stable_sort(sizes, {}, &std::pair<double, const Workload*>::first);
  return *sizes[(sizes.size() - 1) / 2].second;
}

Result<const Workload*> choose(const Definition& definition, const std::vector<Workload>& workloads,
                               const std::string& begins, const std::string& where) {
  if (begins.empty()) return &median_of(definition, workloads);
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

Result<StoredValues> read_values(const fs::path& root, const Definition& definition,
                                 const Workload& workload) {
  const auto axes = axes_at(definition, workload);
  if (!axes) return axes.error();
  StoredValues stored;
  for (const Argument& input : definition.inputs) {
    const auto given = workload.inputs.find(input.name);
    if (given == workload.inputs.end() || given->second.kind != Given::Kind::safetensors) continue;
    const auto file = find_values(root, given->second.path);
    if (!file)
      return fail(ErrorCode::not_found,
                  "the values of '" + input.name + "' are not there: " + given->second.path,
                  definition.name + ", workload " + workload.uuid,
                  "get the data set's blob/ folder (Git LFS) and put it below " + root.string() +
                      " or a folder above it, or choose a workload without safetensors");
    auto bytes =
        read_safetensor(*file, given->second.key, input.dtype, extents_at(input, *axes), kMostStored);
    if (!bytes) return bytes.error();
    if (!bytes->empty()) stored.emplace(input.name, std::move(*bytes));
  }
  return stored;
}

struct Files {
  fs::path definition, workloads;
  fs::path root;  ///< where paths of values begin
};

Result<ArenaTask> read_task(Arena arena, const Files& files, const std::string& wanted) {
  const auto text = read_text_file(files.definition);
  if (!text) return text.error();
  const auto definition = parse_definition(*text, files.definition.string());
  if (!definition) return definition.error();
  const auto lines = read_text_file(files.workloads);
  if (!lines && lines.error().code == ErrorCode::not_found)
    return fail(ErrorCode::not_found, "'" + definition->name + "' has no workloads", files.workloads.string(),
                "get them from the arena's data set");
  if (!lines) return lines.error();
  const auto workloads = parse_workloads(*lines, files.workloads.string());
  if (!workloads) return workloads.error();
  const auto workload = choose(*definition, *workloads, wanted, files.workloads.string());
  if (!workload) return workload.error();
  const auto stored = read_values(files.root, *definition, **workload);
  if (!stored) return stored.error();
  auto task = write_arena_task(arena, *definition, **workload, *stored);
  if (!task) return task.error();
  const Axes& axes = (*workload)->axes;
  task->chosen = (*workload)->uuid + (axes.empty() ? "" : " (" + in_list(axes) + ")") + ", " +
                 (wanted.empty() ? "the one of median size" : "one") + " of " +
                 std::to_string(workloads->size());
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

Result<ArenaTask> task_of_flashinfer_bench(const std::filesystem::path& dataset,
                                           const std::string& definition, const std::string& workload) {
  const auto file = arena::find_definition(dataset, definition);
  if (!file) return file.error();
  const auto group = file->parent_path().filename();
  return arena::read_task(arena::Arena::flashinfer_bench,
                          {*file, dataset / "workloads" / group / (definition + ".jsonl"), dataset},
                          workload);
}

Result<ArenaTask> task_of_sol_execbench(const std::filesystem::path& folder, const std::string& workload) {
  return arena::read_task(arena::Arena::sol_execbench,
                          {folder / "definition.json", folder / "workload.jsonl", folder}, workload);
}

}  // namespace kernelsmith
