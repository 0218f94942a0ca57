// Any bytes as a definition, and below a line "%%" as workloads: a task that can be loaded, or an error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <kernelsmith/evaluator/torch/torch_settings.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "arena_schema.hpp"
#include "arena_task.hpp"
#include "fuzz.hpp"

using namespace kernelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Backends backends = default_registry().backends;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cut = std::min(text.find("\n%%\n"), size);
  const auto definition = arena::parse_definition(text.substr(0, cut), "definition.json");
  const auto workloads = arena::parse_workloads(text.substr(std::min(cut + 4, size)), "workload.jsonl");
  if (!definition) require(definition.error().where.starts_with("definition.json"));
  if (!workloads) require(workloads.error().where.starts_with("workload.jsonl"));
  if (!definition || !workloads) return 0;
  if (!arena::check_definition(*definition)) return 0;
  for (const auto kind : {arena::Arena::flashinfer_bench, arena::Arena::sol_execbench}) {
    arena::Problem problem{kind, *definition};
    for (const arena::Workload& workload : *workloads) {
      auto use = arena::use_of(*definition, workload);
      if (!use) require(!use.error().message.empty());
      if (!use || problem.uses.size() == kMostWorkloads) continue;
      for (const arena::Argument& input : definition->inputs)
        if (arena::given_for(workload, input.name).kind == arena::Given::Kind::safetensors)
          use->files[input.name] = "values.b64";
      if (problem.uses.empty() || arena::are_alike(*definition, *problem.uses.front().workload, workload))
        problem.uses.push_back(std::move(*use));
    }
    if (problem.uses.empty()) continue;
    const ArenaTask task = arena::write_arena_task(problem);
    const auto loaded = task_of_files(task.files, "made", backends);
    require(loaded && loaded->task.name == task.name &&
            loaded->task.reference.main_text() == task.files[1].text);
  }
  return 0;
}
