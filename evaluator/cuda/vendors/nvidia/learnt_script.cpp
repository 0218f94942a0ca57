#include "vendors/nvidia/learnt_script.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "toolchain/build_script.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr std::string_view kPrefix = "#$ ";
/// Variables that the steps use.
constexpr std::array<std::string_view, 5> kVariables = {"TOP", "CICC_PATH", "NVVMIR_LIBRARY_DIR",
                                                        "LD_LIBRARY_PATH", "PATH"};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

enum class Step { host_preprocess, host_front, device_preprocess, device_front, device_back, host_compile };

/// The step of a command; empty for other commands.
std::optional<Step> step_of(std::string_view command) {
  if (contains(command, " -E ") && contains(command, "unit.cpp4.ii")) return Step::host_preprocess;
  if (contains(command, " -E ") && contains(command, "unit.cpp1.ii")) return Step::device_preprocess;
  if (command.starts_with("cudafe++ ")) return Step::host_front;
  if (contains(command, "/cicc\" ") || command.starts_with("cicc ")) return Step::device_front;
  if (command.starts_with("ptxas ")) return Step::device_back;
  if (contains(command, " -c ") && contains(command, "unit.cudafe1.cpp")) return Step::host_compile;
  return std::nullopt;
}

std::string without(std::string text, std::string_view part) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part)) text.erase(at, part.size());
  return text;
}

std::string replaced(std::string text, std::string_view part, std::string_view by) {
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

/// "export NAME='value'" of one of kVariables; empty for other lines.
std::string exported(std::string_view line) {
  for (const std::string_view name : kVariables)
    if (line.starts_with(std::string(name) + "="))
      return "export " + std::string(name) + "=" + shell_quoted(line.substr(name.size() + 1)) + "\n";
  return {};
}

/// Whether the line does nothing that a build needs: it sets a variable, removes files, or makes a fatbinary.
bool is_idle(std::string_view line) {
  const auto word = line.substr(0, line.find_first_of(" ="));
  return line.empty() || word == "rm" || word == "fatbinary" || line.substr(word.size()).starts_with("=");
}

std::string assemble(const std::string& variables, const std::map<Step, std::string>& steps,
                     std::string_view link) {
  const auto run = [&](Step step) { return steps.at(step); };
  // Both front ends report the same errors; the host's are shown if both fail.
  return variables + "{ " + run(Step::device_preprocess) + " && " + run(Step::device_front) +
         "; } >device.log 2>&1 & device=$!\n" +            //
         "{ " + run(Step::host_preprocess) + " && " +      //
         run(Step::host_front) + "; } >&2 || exit $?\n" +  //
         "wait $device; status=$?\ncat device.log >&2\n[ $status = 0 ] || exit $status\n" +
         run(Step::device_back) + " >device.log 2>&1 & device=$!\n" +  //
         run(Step::host_compile) + " >&2 || exit $?\n" + std::string(link) +
         "wait $device; status=$?\ncat device.log >&2\nexit $status\n";
}

}  // namespace

std::optional<std::string> learnt_script(std::string_view dryrun, std::string_view folder,
                                         std::string_view link) {
  std::string variables;
  std::map<Step, std::string> steps;
  while (!dryrun.empty()) {
    std::string_view line = dryrun.substr(0, dryrun.find('\n'));
    dryrun.remove_prefix(std::min(line.size() + 1, dryrun.size()));
    if (!line.starts_with(kPrefix)) continue;  // a warning
    line.remove_prefix(kPrefix.size());
    if (const auto step = step_of(line)) {
      // The module id is fixed, and the folder is hidden because its name differs in each build.
      const std::string command =
          replaced(without(std::string(line), "--gen_module_id_file "), folder, "/build");
      if (!steps.emplace(*step, command).second) return std::nullopt;
    } else if (const std::string variable = exported(line); !variable.empty()) {
      variables += variable;
    } else if (!is_idle(line)) {
      return std::nullopt;
    }
  }
  constexpr std::size_t kSteps = 6;
  if (steps.size() != kSteps) return std::nullopt;
  return assemble(variables, steps, link);
}

}  // namespace kernelsmith::cuda
