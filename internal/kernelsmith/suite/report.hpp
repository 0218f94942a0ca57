// The results of many tasks as files: JSON, CSV, Markdown, and tables for a terminal. docs/suite.md has the
// forms.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/suite/metrics.hpp>

namespace kernelsmith {

/// What a suite or a scoring has found so far. A value.
struct SuiteReport {
  std::string kind;                             ///< "suite" or "score"
  std::map<std::string, std::string> settings;  ///< that all results share, in words
  std::uint64_t tasks = 0;                      ///< how many there are to do; more than results until the end
  std::vector<TaskResult> results;              ///< in the tasks' order
};

/// Settings, metrics and results, indented.
std::string to_json(const SuiteReport& report);

/// What to_json() wrote, but for results with an error: these are to be tried again. `where` is named in
/// errors: `bad_input` for anything else, `version` for that of another version.
Result<SuiteReport> suite_report_from_json(std::string_view text, const std::string& where);

/// One line for each level and one for all, with a header; numbers in full.
std::string levels_csv(const SuiteReport& report);
/// One line for each task.
std::string tasks_csv(const SuiteReport& report);

/// One line for each ready-made candidate; empty if there are none.
std::string candidates_csv(const SuiteReport& report);

/// Metrics by level, by round, and the tasks.
std::string to_markdown(const SuiteReport& report);

/// The same for a terminal. Control characters of names are not escaped.
std::string to_table(const SuiteReport& report);

}  // namespace kernelsmith
