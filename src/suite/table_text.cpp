// Tables as text for a terminal.
#include <algorithm>

#include "tables.hpp"

namespace kernelsmith {
namespace {

/// The width in characters, not bytes, because names can be in any script.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// The table as text. Two blanks separate columns. The first column and the column `note` are left-aligned.
std::string laid_out(const suite::Table& table) {
  std::vector<std::vector<std::string>> lines = {table.head};
  lines.insert(lines.end(), table.rows.begin(), table.rows.end());
  std::vector<std::size_t> widths(table.head.size(), 0);
  for (const auto& cells : lines)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));
  std::string text;
  for (const auto& cells : lines) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string blanks(widths[i] - width_of(cells[i]), ' ');
      const bool left = i == 0 || table.head[i] == "note";
      line += (i > 0 ? "  " : "") + (left ? cells[i] + blanks : blanks + cells[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string to_table(const SuiteReport& report) {
  std::string text;
  for (const suite::Table& table : {suite::tasks_for_people(report), suite::levels_for_people(report),
                                    suite::rounds_for_people(report), suite::times_for_people(report)})
    if (!table.rows.empty()) text += (text.empty() ? "" : "\n") + laid_out(table);
  if (const std::string left = suite::unfinished_text(report); !left.empty()) text += "\n" + left + "\n";
  return text;
}

}  // namespace kernelsmith
