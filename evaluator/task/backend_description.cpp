#include <algorithm>
#include <utility>

#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/precision.hpp>

namespace kernelsmith {
namespace {

/// Names the shape if a task has several.
std::string at(const std::string& shape) { return shape.empty() ? "" : " at " + shape; }

MachineCheck check_of(const PrecisionCheck& found) {
  MachineCheck check{"precision",
                     CheckStatus::ok,
                     found.lower + " inputs fail " + std::to_string(found.caught) + " of " +
                         std::to_string(found.sets) + " sets" + at(found.shape),
                     {},
                     false};
  if (found.tells()) return check;
  check.status = CheckStatus::limited;
  check.detail += ": a kernel that computes in " + found.lower + " would be accepted";
  check.remedy =
      "time a shape with shorter sums, give the inputs another init, or allow it by name: tolerance: {allow: "
      "[" +
      std::string(found.lower == "tf32" ? "tf32" : "bf16_accumulate") + "]}";
  return check;
}

MachineCheck check_of_half(const std::string& input, const std::string& shape) {
  return {"inputs", CheckStatus::limited,
          "half of '" + input + "' could be left out" + at(shape) +
              ": its effect on the outputs is smaller than the allowed error",
          "give it more effect: scale it in the reference, or give it an output of its own", false};
}

/// Such as "reference, baseline and seed".
std::string files_of(const Task& task) {
  std::vector<std::string> names = {"reference"};
  if (!task.baseline.empty()) names.push_back("baseline");
  if (!task.seed.empty()) names.push_back("seed");
  if (!task.yardstick.empty()) names.push_back("yardstick");
  std::string words = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) words += (i + 1 < names.size() ? ", " : " and ") + names[i];
  return words + (names.size() == 1 ? " compiles and passes" : " compile and pass");
}

}  // namespace

const BackendDescription* backend_of_form(const Backends& backends, TaskForm form) {
  const auto found =
      std::ranges::find_if(backends, [form](const auto& backend) { return backend.second.form == form; });
  return found == backends.end() ? nullptr : &found->second;
}

std::string_view name_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::ok:
      return "ok";
    case CheckStatus::limited:
      return "limited";
    case CheckStatus::missing:
      return "missing";
  }
  return "";
}

MachineCheck failed_check(std::string name, Error error, std::string_view remedy) {
  if (error.hint.empty()) error.hint = remedy;
  std::string hint = std::exchange(error.hint, {});
  return {std::move(name), CheckStatus::missing, describe(error), std::move(hint), true};
}

std::vector<MachineCheck> precision_checks(const Result<std::vector<PrecisionCheck>>& found) {
  if (!found && found.error().code == ErrorCode::unsupported)
    return {{"precision", CheckStatus::limited, "not tried: there is no GPU", "", false}};
  if (!found) return {failed_check("precision", found.error())};
  if (found->empty())
    return {{"precision", CheckStatus::ok, "outputs are compared bit for bit: any other precision fails", "",
             false}};
  std::vector<MachineCheck> checks;
  for (const PrecisionCheck& one : *found) {
    checks.push_back(check_of(one));
    for (const std::string& input : one.negligible) checks.push_back(check_of_half(input, one.shape));
    for (const std::string& output : one.unmoved) checks.push_back(degenerate_check(output, one.shape));
  }
  return checks;
}

MachineCheck task_check(const Task& task, const Status& prepared) {
  if (!prepared) return failed_check("task", prepared.error());
  return {"task", CheckStatus::ok, files_of(task), "", true};
}

MachineCheck degenerate_check(const std::string& output, const std::string& shape) {
  return {"outputs", CheckStatus::limited,
          "degenerate: '" + output + "' is the same for all inputs" + at(shape) + ", so a constant would do",
          "let the reference's outputs depend on its inputs, or leave the task out", false};
}

MachineCheck without_gpu(std::string_view maker) {
  return {std::string(kGpuCheck), CheckStatus::missing,
          "the task's files can be planned, but not run: there is no GPU",
          "kernelsmith plan works here; measuring needs a machine with a GPU of " + std::string(maker) +
              " and its driver",
          true};
}

}  // namespace kernelsmith
