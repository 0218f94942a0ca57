// The report's figures as cells of text, which CSV, Markdown and the terminal lay out in their own ways.
#pragma once

#include <string>
#include <vector>

#include <kernelsmith/suite/report.hpp>

namespace kernelsmith::suite {

struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `head`
};

/// For people: few digits, and no column without anything in it.
Table levels_for_people(const SuiteReport& report);
Table tasks_for_people(const SuiteReport& report);
/// AMSR after 1, 2, 4, ... evaluations and after the last one; without rows if there were none.
Table rounds_for_people(const SuiteReport& report);

/// Ready-made candidates by who published them, with what they claim; without rows if nobody has said.
Table published_for_people(const SuiteReport& report);

/// For programs: every column, numbers in full, an empty cell for what is not known.
Table levels_in_full(const SuiteReport& report);
Table tasks_in_full(const SuiteReport& report);
Table candidates_in_full(const SuiteReport& report);

/// The table as CSV (RFC 4180), its head first.
std::string csv_text(const Table& table);

/// "fast_1.2".
std::string fast_name(double threshold);

/// "3 of 10 tasks are done"; empty if all are.
std::string unfinished_text(const SuiteReport& report);

}  // namespace kernelsmith::suite
