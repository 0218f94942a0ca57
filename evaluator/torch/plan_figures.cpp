#include "plan_figures.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include <kernelsmith/evaluator/device_memory.hpp>

#include "planner_pool.hpp"

namespace kernelsmith::torch {
namespace {

constexpr std::string_view kMagic = "KSTORCH1";
constexpr std::size_t kStart = kMagic.size() + sizeof(std::uint32_t);
/// Larger plans, with thousands of operations, get no figures of their kernels.
constexpr std::size_t kMostText = std::size_t{4} << 20;
constexpr double kSpilledWord = 4;  // bytes
/// The CUDA contexts, with PyTorch's kernels, of a judge, two runners and a spare.
constexpr std::uint64_t kProcesses = 4 * (std::uint64_t{600} << 20);
/// Inputs are kept as drawn, as varied and in fp64; outputs in fp32 and fp64, with their tolerance.
constexpr std::uint64_t kTimes = 4;
/// No device has more memory, and sums of a few such values do not overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;

/// The plan's JSON; null if it is not a plan.
Json head_of(std::string_view plan) {
  if (plan.size() < kStart || !plan.starts_with(kMagic)) return {};
  std::size_t size = 0;
  for (std::size_t i = kStart; i-- > kMagic.size();) size = size << 8 | static_cast<unsigned char>(plan[i]);
  if (size > std::min(kMostText, plan.size() - kStart)) return {};
  return parse_untrusted(plan.substr(kStart, size));
}

/// Bytes of an element, by the name of its type: "float32", "complex64", "bool", "float8_e4m3fn".
std::uint64_t width_of(const std::string& dtype) {
  const auto digit =
      std::ranges::find_if(dtype, [](unsigned char letter) { return std::isdigit(letter) != 0; });
  const auto bits = std::strtoull(dtype.c_str() + (digit - dtype.begin()), nullptr, 10);
  return std::clamp<std::uint64_t>(bits / 8, 1, 16);
}

std::uint64_t bytes_of_tensors(const Json& tensors) {
  double all = 0;
  if (!tensors.is_array()) return 0;
  for (const Json& tensor : tensors) {
    double bytes = static_cast<double>(width_of(text_at(tensor, "dtype")));
    if (const Json& shape = member(tensor, "shape"); shape.is_array())
      for (const Json& size : shape) bytes *= size.is_number_unsigned() ? size.get<double>() : 0;
    all += bytes;
  }
  return static_cast<std::uint64_t>(std::min(all, static_cast<double>(kMostBytes)));
}

/// Such as "float32 [4, 8]" for each output of the first alternative; empty if it is not a plan.
std::vector<std::string> outputs_of(std::string_view plan) {
  std::vector<std::string> outputs;
  const Json head = head_of(plan);
  const Json& alternatives = member(head, "alternatives");
  if (!alternatives.is_array() || alternatives.empty()) return outputs;
  if (const Json& told = member(alternatives.front(), "outputs"); told.is_array())
    for (const Json& output : told)
      outputs.push_back(text_at(output, "dtype") + " " + member(output, "shape").dump());
  return outputs;
}

}  // namespace

std::map<std::string, double> figures_of(const Json& summary, std::string_view plan) {
  std::map<std::string, double> figures;
  if (member(summary, "launches").is_number()) figures["launches"] = number_at(summary, "launches");
  if (const Json& operators = member(summary, "operators"); operators.is_object()) {
    double& count = figures["aten_ops"];
    for (const Json& times : operators)
      if (times.is_number()) count += times.get<double>();
  }
  const Json head = head_of(plan);
  const auto take = [&](const Json& kernel, const char* key, const char* figure, double unit) {
    if (!member(kernel, key).is_number()) return;
    double& largest = figures[figure];
    largest = std::max(largest, unit * number_at(kernel, key));
  };
  for (const char* const code : {"kernels", "modules"}) {
    const Json& told = member(head, code);
    for (const Json& each : told.is_array() ? told : Json::array()) {
      take(each, "registers", "registers", 1);
      take(each, "spills", "spill_bytes", kSpilledWord);
      take(each, "shared", "shared_bytes", 1);
    }
  }
  return figures;
}

CallBytes bytes_of_call(std::string_view plan) {
  const Json head = head_of(plan);
  const Json& alternatives = member(head, "alternatives");
  CallBytes call;
  call.inputs = bytes_of_tensors(member(head, "inputs"));
  if (alternatives.is_array() && !alternatives.empty())
    call.outputs = bytes_of_tensors(member(alternatives.front(), "outputs"));
  return call;
}

CallBytes largest_call(const Plan& plan) {
  CallBytes largest;
  for (const std::string& part : plan.parts()) {
    const CallBytes call = bytes_of_call(part);
    if (call.inputs + call.outputs > largest.inputs + largest.outputs) largest = call;
  }
  return largest;
}

std::string different_outputs(const Plan& reference, const Plan& candidate) {
  for (std::size_t workload = 0; workload < reference.parts().size(); ++workload)
    if (std::string wrong = different_outputs(reference.bytes(workload), candidate.bytes(workload));
        !wrong.empty())
      return wrong;
  return {};
}

std::uint64_t guess_of_need(const CallBytes& call) {
  return kProcesses + kTimes * (call.inputs + call.outputs);
}

std::string need_text(const CallBytes& call) {
  return "memory: inputs " + gibibytes(call.inputs) + " and outputs " + gibibytes(call.outputs) +
         " of a call; preparing the task takes some " + gibibytes(guess_of_need(call)) + "\n";
}

std::map<std::string, double> heavy_operators(const Json& summary) {
  std::map<std::string, double> heavy;
  if (const Json& told = member(summary, "heavy"); told.is_object())
    for (const auto& [name, times] : told.items())
      if (times.is_number()) heavy[name] = times.get<double>();
  return heavy;
}

std::string different_outputs(std::string_view reference, std::string_view candidate) {
  const auto own = outputs_of(candidate), due = outputs_of(reference);
  if (own.empty() || due.empty() || own == due) return {};
  if (own.size() != due.size())
    return "forward returns " + std::to_string(own.size()) + " tensors, and the reference's returns " +
           std::to_string(due.size());
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(own, due).in1 - own.begin());
  return "output " + std::to_string(at) + " is " + own[at] + ", and the reference's is " + due[at];
}

bool is_trivial(const std::map<std::string, double>& reference,
                const std::map<std::string, double>& candidate) {
  return !reference.empty() && std::ranges::all_of(reference, [&](const auto& used) {
    const auto left = candidate.find(used.first);
    return left != candidate.end() && left->second >= used.second;
  });
}

}  // namespace kernelsmith::torch
