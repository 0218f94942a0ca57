// Any bytes as a task.yaml: a task whose shapes all have extents, or an error that names the file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/evaluator/tensors.hpp>

#include "fuzz.hpp"

using namespace kernelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto task = parse_task(text, "task.yaml", [](const std::string& path) -> Result<std::string> {
    require(!path.empty() && path.front() != '/' && path.find("..") == path.npos);
    return "text of " + path;
  });
  if (!task) {
    require(task.error().where.starts_with("task.yaml") && !task.error().message.empty());
    return 0;
  }
  require(task->digest == task_digest(*task));
  for (const Sizes& sizes : task->timed) require(bool(extents_of(*task, sizes)));
  for (const Sizes& sizes : task->check) require(bool(extents_of(*task, sizes)));
  return 0;
}
