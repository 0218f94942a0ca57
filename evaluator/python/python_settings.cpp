#include <nlohmann/json.hpp>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/evaluator/python/python_settings.hpp>

namespace kernelsmith {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PythonSettings, python, memory_mb, cascade, sandbox)

namespace {

using Json = nlohmann::json;

constexpr Range<int> kMemoryMb = {16, 1 << 24};

std::string read_settings(YamlMap& in, const Task&) {
  PythonSettings python;
  in.optional("python", python.python);
  in.optional("memory_mb", python.memory_mb, kMemoryMb);
  in.optional("cascade", python.cascade);
  in.optional("sandbox", python.sandbox);
  if (in.ok() && in.kind("cascade") != YamlKind::absent && python.cascade.empty())
    in.refuse("cascade", "the list is empty", "cascade: [0.5, 0.75], or leave it out");
  return settings_text(python);
}

Error wrong_settings(const Task& task) {
  return fail(ErrorCode::bad_input, "the task's settings are not those of the backend python", task.name);
}

}  // namespace

Result<PythonSettings> python_settings(const Task& task) {
  PythonSettings python;
  python.evaluator = task.evaluator.path;
  if (task.settings.empty()) return python;
  try {
    Json::parse(task.settings).get_to(python);
  } catch (const Json::exception&) {
    return wrong_settings(task);
  }
  if (python.memory_mb < kMemoryMb.low || python.memory_mb > kMemoryMb.high) return wrong_settings(task);
  return python;
}

std::string settings_text(const PythonSettings& python) {
  const PythonSettings usual;
  if (python.python == usual.python && python.memory_mb == usual.memory_mb && python.cascade.empty() &&
      python.sandbox == usual.sandbox)
    return {};
  return Json(python).dump();
}

TaskSettings python_task_settings() {
  return {.keys = {"python", "memory_mb", "cascade", "sandbox"},
          .read = read_settings,
          .check = [](const Task& task) {
            const auto python = python_settings(task);
            return python ? Status{} : Status(python.error());
          }};
}

}  // namespace kernelsmith
