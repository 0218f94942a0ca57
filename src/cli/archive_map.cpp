#include "archive_map.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text.hpp"

namespace kernelsmith::cli {
namespace {

using Table = std::vector<std::vector<std::string>>;

/// The best elite at each row and column.
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

using Kept = std::vector<std::size_t>;

std::size_t width_of(const Table& table, std::size_t column) {
  std::size_t width = 0;
  for (const auto& row : table) width = std::max(width, row[column].size());
  return width;
}

std::string aligned(const Table& table, const Kept& rows, const Kept& columns) {
  std::string text;
  for (const std::size_t row : rows) {
    text += " ";
    for (const std::size_t column : columns)
      text += fmt::format(" {:>{}} ", table[row][column], width_of(table, column));
    text.back() = '\n';
  }
  return text;
}

/// The indices of `best`, sorted so that the best value comes first and empty values last.
Kept by_rank(const std::vector<std::optional<double>>& best) {
  Kept order(best.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return best[i]; });
  return order;
}

}  // namespace

std::string archive_map(const RunView& view, bool all) {
  constexpr std::size_t kRows = 24;
  const auto& axes = view.state.archipelago().grid().axes();
  if (axes.empty()) return "";
  std::vector<std::string> head = {axes[0].feature()};
  if (axes.size() == 1) head.push_back("best");
  for (std::size_t bin = 0; axes.size() > 1 && bin < axes[1].bins(); ++bin)
    head.push_back(axes[1].label(bin));

  Table table = {head};
  const auto best = project(view);
  std::vector<std::optional<double>> of_row(best.size()), of_column(best.front().size());
  for (std::size_t row = 0; row < best.size(); ++row) {
    std::vector<std::string> line = {axes[0].label(row)};
    for (std::size_t column = 0; column < best[row].size(); ++column) {
      const auto& elite = best[row][column];
      line.push_back(elite ? short_number(score_of(view.shown(elite->individual)->evaluation).median) : ".");
      if (!elite) continue;
      of_row[row] = std::max(of_row[row], std::optional(elite->fitness));
      of_column[column] = std::max(of_column[column], std::optional(elite->fitness));
    }
    table.push_back(std::move(line));
  }

  // If not everything fits, shows the best rows and columns, and no empty ones.
  Kept rows = {0}, columns = {0};  // the heading and the labels
  const bool fits = all || best.size() <= kRows;
  for (const std::size_t row : by_rank(of_row))
    if (fits || (of_row[row] && rows.size() <= kRows)) rows.push_back(row + 1);
  const auto width = [&](std::size_t column) { return 2 + width_of(table, column); };
  std::size_t whole = 0, used = width(0);
  for (std::size_t column = 0; column < head.size(); ++column) whole += width(column);
  for (const std::size_t column : by_rank(of_column)) {
    const bool wanted = of_column[column] && used + width(column + 1) <= kColumns;
    if (!all && whole > kColumns && !wanted) continue;
    columns.push_back(column + 1);
    used += width(column + 1);
  }
  std::ranges::sort(rows);
  std::ranges::sort(columns);
  std::string text = axes.size() > 1 ? fmt::format("  columns: {}\n", axes[1].feature()) : "";
  text += aligned(table, rows, columns);
  if (const auto missing = std::pair(table.size() - rows.size(), head.size() - columns.size());
      missing.first + missing.second > 0)
    text += fmt::format("  {} and {} hold worse programs or none: --all shows them\n",
                        number_text(missing.first, "row"), number_text(missing.second, "column"));
  return text;
}

namespace {

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "-";
}

/// The geometric mean of the gains of those children that were better than their parents.
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
  constexpr const char* kRow = "  {:<10} {:<24} {:>6} {:>5} {:>6} {:>8} {:>6} {:>6}  {}\n";
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
