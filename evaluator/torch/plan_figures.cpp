#include "plan_figures.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace kernelsmith::torch {
namespace {

constexpr std::string_view kMagic = "KSTORCH1";
constexpr std::size_t kStart = kMagic.size() + sizeof(std::uint32_t);
/// Larger plans, of thousands of operations, go without the figures of their kernels.
constexpr std::size_t kMostText = std::size_t{4} << 20;
constexpr double kSpilledWord = 4;  // bytes

/// The plan's JSON; null where it is none.
Json head_of(std::string_view plan) {
  if (plan.size() < kStart || !plan.starts_with(kMagic)) return {};
  std::size_t size = 0;
  for (std::size_t i = kStart; i-- > kMagic.size();) size = size << 8 | static_cast<unsigned char>(plan[i]);
  if (size > std::min(kMostText, plan.size() - kStart)) return {};
  return parse_untrusted(plan.substr(kStart, size));
}

/// "float32 [4, 8]" of each output of the first alternative; none where it is no plan.
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
  if (const Json& kernels = member(head, "kernels"); kernels.is_array())
    for (const Json& kernel : kernels) {
      take(kernel, "registers", "registers", 1);
      take(kernel, "spills", "spill_bytes", kSpilledWord);
      take(kernel, "shared", "shared_bytes", 1);
    }
  return figures;
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
