#include <algorithm>
#include <vector>

#include <kernelsmith/core/nearest_name.hpp>

namespace kernelsmith {
namespace {

/// Longer names are not considered, because the table grows with the product of the lengths.
constexpr std::size_t kLongestName = 100;

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Optimal string alignment: Levenshtein's distance with swaps of neighbours. Capitals count as small
/// letters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t substitution = cost[i - 1][j - 1] + (small(a[i - 1]) == small(b[j - 1]) ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substitution});
      const bool swapped =
          i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) && small(a[i - 2]) == small(b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates) {
  if (name.size() > kLongestName) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t smallest = 0;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (nearest && distance >= smallest) continue;
    nearest = candidate;
    smallest = distance;
  }
  if (!nearest) return std::nullopt;
  const std::size_t allowed = std::max<std::size_t>(1, std::max(name.size(), nearest->size()) / 3);
  return smallest <= allowed ? nearest : std::nullopt;
}

std::string name_hint(std::string_view name, std::span<const std::string_view> candidates) {
  if (const auto nearest = nearest_name(name, candidates))
    return "did you mean " + std::string(*nearest) + "?";
  std::string list;
  for (const std::string_view candidate : candidates) {
    if (!list.empty()) list += ", ";
    list += candidate;
  }
  return list.empty() ? list : "known names: " + list;
}

}  // namespace kernelsmith
