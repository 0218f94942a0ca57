#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/evaluator/tolerance_reader.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

namespace kernelsmith {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TorchSettings, precision, baseline, policy, cast, include)

namespace {

using Json = nlohmann::json;

/// A workload's tolerance has the form that it has in a task.
Json json_of(const TorchWorkload& one) {
  Json json = {
      {"name", one.name}, {"arguments", one.arguments}, {"weight", one.weight}, {"check", one.check}};
  if (one.tolerance) json["tolerance"] = Json::parse(to_json(*one.tolerance));
  return json;
}

/// Throws Json::exception.
TorchWorkload workload_in(const Json& json) {
  TorchWorkload one{json.at("name"), json.at("arguments"), json.at("weight"), json.at("check")};
  if (!json.contains("tolerance")) return one;
  const auto tolerance = from_json<Tolerance>(json["tolerance"].dump());
  if (tolerance && is_valid(*tolerance)) one.tolerance = *tolerance;
  if (!one.tolerance) throw Json::other_error::create(501, "no tolerance", &json);
  return one;
}

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

/// The longest name of a workload, which stands in messages and tables.
constexpr std::size_t kLongestName = 100;

void read_arguments(YamlMap& in, TorchWorkload& workload) {
  Json arguments = Json::object();
  for (const std::string& name : in.keys()) {
    YamlScalar value;
    in.required(name, value);
    std::visit([&](const auto& each) { arguments[name] = each; }, value);
  }
  workload.arguments = arguments.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void read_workload(YamlMap& in, std::vector<TorchWorkload>& workloads) {
  in.only({"name", "arguments", "weight", "check", "tolerance"});
  TorchWorkload workload;
  in.required("name", workload.name);
  in.optional_map("arguments", [&](YamlMap& arguments) { read_arguments(arguments, workload); });
  in.optional("weight", workload.weight, {1e-6, 1e6});
  in.optional("check", workload.check);
  if (in.kind("tolerance") != YamlKind::absent)
    read_tolerance(in, workload.tolerance.emplace(), TaskForm::module);
  if (!in.ok()) return;
  if (workload.name.empty() || workload.name.size() > kLongestName ||
      std::ranges::any_of(workload.name, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    in.refuse("name", "a workload's name has 1 to " + std::to_string(kLongestName) + " printable characters");
  if (std::ranges::find(workloads, workload.name, &TorchWorkload::name) != workloads.end())
    in.refuse("name", "two workloads are called '" + workload.name + "'");
  if (workload.check && in.kind("weight") != YamlKind::absent)
    in.refuse("weight", "a workload that is only checked has no weight");
  workloads.push_back(std::move(workload));
}

void read_workloads(YamlMap& in, std::vector<TorchWorkload>& workloads) {
  in.optional_maps("workloads", [&](YamlMap& workload) { read_workload(workload, workloads); });
  if (!in.ok() || in.kind("workloads") == YamlKind::absent) return;
  if (workloads.size() > kMostWorkloads)
    in.refuse("workloads",
              std::to_string(workloads.size()) + " workloads: at most " + std::to_string(kMostWorkloads));
  if (std::ranges::all_of(workloads, &TorchWorkload::check))
    in.refuse("workloads", "no workload is timed", "leave out `check` at those that the score counts");
}

std::string read_settings(YamlMap& in, const Task&) {
  TorchSettings torch;
  in.optional_map("toolchain", [&](YamlMap& toolchain) { read_toolchain(toolchain, torch); });
  in.optional_map("torch", [&](YamlMap& settings) { read_torch(settings, torch); });
  read_workloads(in, torch.workloads);
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
    for (const Json& one : json.value("workloads", Json::array()))
      torch.workloads.push_back(workload_in(one));
  } catch (const Json::exception&) {
    return wrong_settings(task);
  }
  if (!has(precisions(), torch.precision) || !has(baselines(), torch.baseline) ||
      !has(policies(), torch.policy))
    return wrong_settings(task);
  return torch;
}

std::vector<TorchWorkload> workloads_of(const TorchSettings& settings) {
  return settings.workloads.empty() ? std::vector<TorchWorkload>(1) : settings.workloads;
}

const Tolerance& tolerance_at(const Tolerance& of_task, const TorchWorkload& workload) {
  return workload.tolerance ? *workload.tolerance : of_task;
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
  // Older texts lack these keys.
  if (!torch.module.empty()) json["module"] = torch.module;
  for (const TorchWorkload& one : torch.workloads) json["workloads"].push_back(json_of(one));
  return json.dump();
}

TaskSettings torch_task_settings() {
  return {.keys = {"torch", "toolchain", "workloads"}, .read = read_settings, .check = [](const Task& task) {
            const auto module = baseline_module(task);
            return module ? Status{} : Status(module.error());
          }};
}

}  // namespace kernelsmith
