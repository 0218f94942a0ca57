#include "archive_map.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "text.hpp"

namespace kernelsmith::cli {
namespace {

using Table = std::vector<std::vector<std::string>>;

/// The best by row and column.
std::vector<std::vector<std::optional<Elite>>> project(const RunView& view) {
  const Grid& grid = view.state.archipelago().grid();
  const auto& axes = grid.axes();
  const std::size_t columns = axes.size() > 1 ? axes[1].bins() : 1;
  std::vector best(axes[0].bins(), std::vector<std::optional<Elite>>(columns));
  for (const auto& [cell, elite] : view.elites()) {
    const auto at = grid.coordinates(cell);
    auto& place = best[at[0]][axes.size() > 1 ? at[1] : 0];
    if (!place || elite.fitness > place->fitness) place = elite;
  }
  return best;
}

std::string aligned(const Table& table) {
  std::vector<std::size_t> widths(table.front().size(), 0);
  for (const auto& row : table)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : table) {
    text += "  ";
    for (std::size_t i = 0; i < row.size(); ++i)
      text += fmt::format("{:>{}}{}", row[i], widths[i], i + 1 < row.size() ? "  " : "\n");
  }
  return text;
}

}  // namespace

std::string archive_map(const RunView& view) {
  const auto& axes = view.state.archipelago().grid().axes();
  if (axes.empty()) return "";
  std::vector<std::string> head = {axes[0].feature()};
  if (axes.size() == 1) head.push_back("best");
  for (std::size_t bin = 0; axes.size() > 1 && bin < axes[1].bins(); ++bin)
    head.push_back(axes[1].label(bin));

  Table table = {head};
  const auto best = project(view);
  for (std::size_t row = 0; row < best.size(); ++row) {
    std::vector<std::string> line = {axes[0].label(row)};
    for (const auto& elite : best[row])
      line.push_back(elite ? short_number(score_of(view.shown(elite->individual)->evaluation).median) : ".");
    table.push_back(std::move(line));
  }
  const std::string columns = axes.size() > 1 ? fmt::format("  columns: {}\n", axes[1].feature()) : "";
  return columns + aligned(table);
}

}  // namespace kernelsmith::cli
