// What the committer reports to people in addition to the events.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "committer.hpp"

namespace kernelsmith {
namespace {

/// The lines of `text`, or its parts between commas, that `other` lacks, in one line.
std::string parts_lacking(const std::string& text, const std::string& other) {
  const auto parts = [](std::string_view all) {
    std::vector<std::string> result;
    while (!all.empty()) {
      const std::size_t end = std::min(all.find_first_of(",\n"), all.size());
      std::string_view part = all.substr(0, end);
      part.remove_prefix(std::min(part.find_first_not_of(" -"), part.size()));
      if (!part.empty()) result.emplace_back(part);
      all.remove_prefix(std::min(end + 1, all.size()));
    }
    return result;
  };
  const auto others = parts(other);
  std::string lacking;
  for (const std::string& part : parts(text))
    if (std::ranges::find(others, part) == others.end()) lacking += (lacking.empty() ? "" : ", ") + part;
  return lacking;
}

}  // namespace

std::vector<Notice> notices_of_changes(const std::map<std::string, std::string>& before,
                                       const std::map<std::string, std::string>& now) {
  std::vector<Notice> notices;
  for (const auto& [name, value] : now) {
    const auto it = before.find(name);
    if (it != before.end() && it->second != value)
      notices.push_back({Notice::Level::info, name + " changes from \"" + parts_lacking(it->second, value) +
                                                  "\" to \"" + parts_lacking(value, it->second) + "\""});
  }
  return notices;
}

std::vector<Notice> notices_of_axes(const std::vector<AxisSpec>& axes, const Metrics& metrics) {
  std::string reported = "fitness";
  for (const auto& [name, value] : metrics.features()) reported += ", " + name;
  std::vector<Notice> notices;
  for (const AxisSpec& axis : axes) {
    if (axis.feature == "fitness" || metrics.features().contains(axis.feature)) continue;
    notices.push_back({Notice::Level::warning, "nothing reported the archive's axis \"" + axis.feature +
                                                   "\" for the first accepted program: programs without it "
                                                   "share the axis's first bin. There are: " +
                                                   reported});
  }
  return notices;
}

Notice money_warning(const SearchState& state) {
  const double spent = state.spending().usd(), limit = *state.budgets().usd;
  char text[128];
  std::snprintf(text, sizeof text, "calls have cost %.3g of %.6g USD (%.0f %%)%s", spent, limit,
                100 * spent / limit, spent > limit ? ": more than the limit" : "");
  return {Notice::Level::warning, text};
}

}  // namespace kernelsmith
