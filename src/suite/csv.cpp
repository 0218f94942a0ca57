// Tables as CSV.
#include "tables.hpp"

namespace kernelsmith {
namespace {

/// The text as a cell, in quotes if RFC 4180 requires them.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_cell(cells[i]);
  return text + "\n";
}

}  // namespace

std::string suite::csv_text(const Table& table) {
  std::string text = csv_line(table.head);
  for (const auto& row : table.rows) text += csv_line(row);
  return text;
}

std::string levels_csv(const SuiteReport& report) { return suite::csv_text(suite::levels_in_full(report)); }
std::string tasks_csv(const SuiteReport& report) { return suite::csv_text(suite::tasks_in_full(report)); }
std::string times_csv(const SuiteReport& report) {
  const suite::Table table = suite::times_in_full(report);
  return table.rows.empty() ? "" : suite::csv_text(table);
}
std::string candidates_csv(const SuiteReport& report) {
  const suite::Table table = suite::candidates_in_full(report);
  return table.rows.empty() ? "" : suite::csv_text(table);
}

}  // namespace kernelsmith
