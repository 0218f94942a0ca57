#include "arms_table.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "text.hpp"

namespace kernelsmith::cli {
namespace {

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "-";
}

/// The geometric mean of the gains of children that were better than their parents.
std::string gain_text(const ArmSums& sums) {
  return sums.better > 0 && sums.gain > 0 ? short_number(std::exp(sums.gain / sums.better)) + "x" : "-";
}

std::string cost_text(const ArmSums& sums) {
  if (sums.usd > 0) return usd_text(sums.usd);
  return sums.tokens > 0 ? fmt::format("{:.0f} tokens", sums.tokens) : "-";
}

}  // namespace

std::string arms_table(const ArmRecord& record) {
  if (record.arms().size() < 2) return "";
  const Arm total = record.total();
  std::vector<std::pair<OperatorChoice, Arm>> arms(record.arms().begin(), record.arms().end());
  std::ranges::stable_sort(arms, std::ranges::greater(),
                           [](const auto& one) { return one.second.lately.tries; });
  constexpr const char* kRow = "  {:<10} {:<24} {:>7} {:>7} {:>7} {:>9} {:>7} {:>8}  {}\n";
  std::string text = fmt::format(kRow, "operator", "model", "tries", "share", "lately", "accepted", "better",
                                 "gain", "cost");
  for (const auto& [choice, arm] : arms)
    text +=
        fmt::format(kRow, name_of(choice.op), choice.model.empty() ? "-" : choice.model, arm.all.tries,
                    percent(arm.all.tries, total.all.tries), percent(arm.lately.tries, total.lately.tries),
                    percent(arm.all.accepted, arm.all.tries), percent(arm.all.better, arm.all.tries),
                    gain_text(arm.all), cost_text(arm.all));
  return text;
}

}  // namespace kernelsmith::cli
