// Tables as CSV.
#include <kernelsmith/core/csv.hpp>

#include "tables.hpp"

namespace kernelsmith {
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
