#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

namespace kernelsmith {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TorchSettings, precision, baseline, policy, cast, include)

namespace {

using Json = nlohmann::json;
using Names = Choices<std::string>;

const Names& precisions() {
  static const Names names = {{"fp32", "fp32"}, {"tf32", "tf32"}, {"bf16", "bf16"}, {"fp16", "fp16"}};
  return names;
}
const Names& baselines() {
  static const Names names = {{"eager", "eager"}, {"compile", "compile"}};
  return names;
}
const Names& policies() {
  static const Names names = {{"own_kernels", "own_kernels"}, {"any", "any"}};
  return names;
}

bool has(const Names& names, const std::string& name) {
  return std::ranges::find(names, name, &Names::value_type::second) != names.end();
}

void read_torch(YamlMap& in, TorchSettings& torch) {
  in.only({"precision", "baseline", "policy", "cast"});
  in.optional("precision", torch.precision, precisions());
  if (in.kind("baseline") == YamlKind::map)
    in.required_map("baseline", [&](YamlMap& baseline) { baseline.required("module", torch.module); });
  else
    in.optional("baseline", torch.baseline, baselines());
  in.optional("policy", torch.policy, policies());
  in.optional("cast", torch.cast);
}

void read_toolchain(YamlMap& in, TorchSettings& torch) {
  in.only({"include"});
  in.optional("include", torch.include);
  for (const std::string& folder : torch.include)
    if (!std::filesystem::path(folder).is_absolute())
      in.refuse("include",
                "'" + folder + "' is not an absolute path: it is a folder of the machine that evaluates",
                "toolchain: {include: [/opt/cutlass/include]}");
}

std::string read_settings(YamlMap& in, const Task& task) {
  TorchSettings torch;
  in.optional_map("toolchain", [&](YamlMap& toolchain) { read_toolchain(toolchain, torch); });
  in.optional_map("torch", [&](YamlMap& settings) { read_torch(settings, torch); });
  if (in.ok() && !task.tolerance.allow.empty())
    in.refuse("tolerance", "a task of modules allows a precision by name: torch: {precision: ...}",
              "torch: {precision: tf32}");
  return settings_text(torch);
}

Error wrong_settings(const Task& task) {
  return fail(ErrorCode::bad_input, "the task's settings are not those of the backend torch", task.name);
}

}  // namespace

Result<TorchSettings> torch_settings(const Task& task) {
  TorchSettings torch;
  if (task.settings.empty()) return torch;
  try {
    const Json json = Json::parse(task.settings);
    json.get_to(torch);
    torch.module = json.value("module", "");
  } catch (const Json::exception&) {
    return wrong_settings(task);
  }
  if (!has(precisions(), torch.precision) || !has(baselines(), torch.baseline) ||
      !has(policies(), torch.policy))
    return wrong_settings(task);
  return torch;
}

Result<const SourceFile*> baseline_module(const Task& task) {
  const auto torch = torch_settings(task);
  if (!torch) return torch.error();
  if (torch->module.empty()) return nullptr;
  const auto found = std::ranges::find(task.files, torch->module, &SourceFile::path);
  if (found != task.files.end()) return &*found;
  return fail(ErrorCode::bad_input,
              "the baseline's module '" + torch->module + "' is not among the task's files",
              "torch: baseline", "files: {also: " + torch->module + "}");
}

std::string settings_text(const TorchSettings& torch) {
  if (torch == TorchSettings{}) return {};
  Json json = torch;
  if (!torch.module.empty()) json["module"] = torch.module;  // older ones lack this key
  return json.dump();
}

TaskSettings torch_task_settings() {
  return {.keys = {"torch", "toolchain"}, .read = read_settings, .check = [](const Task& task) {
            const auto module = baseline_module(task);
            return module ? Status{} : Status(module.error());
          }};
}

}  // namespace kernelsmith
