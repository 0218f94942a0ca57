// The report's tables as cells of text, for CSV, Markdown and the terminal.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/suite/report.hpp>

namespace kernelsmith::suite {

struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `head`
};

/// For people: few digits, no empty columns.
Table levels_for_people(const SuiteReport& report);
Table tasks_for_people(const SuiteReport& report);
/// AMSR after 1, 2, 4, ... evaluations and after the last one; without rows if there were none.
Table rounds_for_people(const SuiteReport& report);

/// Ready-made candidates by publisher, with claims; without rows if there are none.
Table published_for_people(const SuiteReport& report);

/// For programs: every column, full precision, empty cells for unknown values.
Table levels_in_full(const SuiteReport& report);
Table tasks_in_full(const SuiteReport& report);
Table candidates_in_full(const SuiteReport& report);

/// The table as CSV (RFC 4180), its head first.
std::string csv_text(const Table& table);

/// Such as "fast_1.2".
std::string fast_name(double threshold);

/// Such as "3 of 10 tasks are done"; empty if all are.
std::string unfinished_text(const SuiteReport& report);

}  // namespace kernelsmith::suite
