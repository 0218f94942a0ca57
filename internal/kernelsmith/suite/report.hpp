// The results of many tasks as JSON, CSV, Markdown, and tables for a terminal. docs/suite.md has the formats.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/suite/metrics.hpp>

namespace kernelsmith {

/// The results of a suite or a scoring so far. A value.
struct SuiteReport {
  std::string kind;                             ///< "suite" or "score"
  std::map<std::string, std::string> settings;  ///< settings that all results share, in words
  std::uint64_t tasks = 0;                      ///< number of tasks; larger than the number of results until
                                                ///< the end
  std::vector<TaskResult> results;              ///< in the tasks' order
};

/// Settings, metrics and results, indented.
std::string to_json(const SuiteReport& report);

/// Reads the text of to_json(). Leaves out results with an error, because they will be tried again. Errors,
/// which name `where`: `bad_input` for an invalid text, `version` for a text of another version.
Result<SuiteReport> suite_report_from_json(std::string_view text, const std::string& where);

/// CSV with a header: one line for each level, and one for all levels; numbers in full precision.
std::string levels_csv(const SuiteReport& report);
/// CSV: one line for each task.
std::string tasks_csv(const SuiteReport& report);

/// CSV: one line for each ready-made candidate; empty if there are none.
std::string candidates_csv(const SuiteReport& report);

/// CSV: one line for each task that was scored, with the time of each step; empty if there are none.
std::string times_csv(const SuiteReport& report);

/// Markdown: the metrics by level and by round, and the tasks.
std::string to_markdown(const SuiteReport& report);

/// The text of to_markdown() for a terminal. Control characters in names are not escaped.
std::string to_table(const SuiteReport& report);

}  // namespace kernelsmith
