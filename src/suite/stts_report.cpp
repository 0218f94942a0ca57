// The two tables of STTS, in the formats of the suite.
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include <kernelsmith/suite/stts.hpp>

#include "stts_journal.hpp"
#include "tables.hpp"

namespace kernelsmith {
namespace {

using Tables = std::array<std::pair<const char*, const SuiteReport*>, 2>;

Tables tables_of(const SttsReport& report) {
  return {{{"last", &report.last}, {"best_of_history", &report.best}}};
}

/// Both tables as one CSV with one heading; each record begins with the name of its table.
std::string csv_of(const SttsReport& report, suite::Table (*table_of)(const SuiteReport&)) {
  suite::Table all;
  for (const auto& [name, one] : tables_of(report)) {
    suite::Table table = table_of(*one);
    all.head = std::move(table.head);
    all.head.insert(all.head.begin(), "table");
    for (auto& row : table.rows) {
      row.insert(row.begin(), name);
      all.rows.push_back(std::move(row));
    }
  }
  return suite::csv_text(all);
}

}  // namespace

std::string to_json(const SttsReport& report) {
  constexpr int kIndent = 2;
  nlohmann::ordered_json json = {
      {"version", suite::kSttsVersion}, {"kind", "stts"}, {"settings", report.last.settings}};
  for (const auto& [name, table] : tables_of(report))
    json[name] = nlohmann::ordered_json::parse(to_json(*table));
  return json.dump(kIndent, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_table(const SttsReport& report) {
  return "the last turn\n\n" + to_table(report.last) + "\nthe best of history\n\n" + to_table(report.best);
}

std::string results_csv(const SttsReport& report) { return csv_of(report, suite::tasks_in_full); }
std::string levels_csv(const SttsReport& report) { return csv_of(report, suite::levels_in_full); }

}  // namespace kernelsmith
