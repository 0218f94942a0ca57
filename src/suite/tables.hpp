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

/// A table for people, with few digits and without empty columns.
Table levels_for_people(const SuiteReport& report);
Table tasks_for_people(const SuiteReport& report);
/// AMSR after 1, 2, 4, ... evaluations and after the last one. Has no rows if there were no evaluations.
Table rounds_for_people(const SuiteReport& report);

/// Ready-made candidates by publisher, with their claims. Has no rows if there are no such candidates.
Table published_for_people(const SuiteReport& report);

/// The scored tasks' time by step. Has no rows if nothing was scored.
Table times_for_people(const SuiteReport& report);

/// A table for programs: every column, full precision, and empty cells for unknown values.
Table levels_in_full(const SuiteReport& report);
Table tasks_in_full(const SuiteReport& report);
Table candidates_in_full(const SuiteReport& report);
Table times_in_full(const SuiteReport& report);

/// The table as CSV (RFC 4180), beginning with its head.
std::string csv_text(const Table& table);

/// The name of a column, such as "fast_1.2".
std::string fast_name(double threshold);

/// Text such as "3 of 10 tasks are done"; empty if all tasks are done.
std::string unfinished_text(const SuiteReport& report);

}  // namespace kernelsmith::suite
