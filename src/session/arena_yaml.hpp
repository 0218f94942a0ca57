// The task.yaml of an arena's problem: a torch task of many workloads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::arena {

/// How wrong an output may be in an arena that counts the reference's own output as the truth.
struct Figures {
  double rtol = 0, atol = 0;
  double matched = 1;              ///< the share of elements that must be right
  std::optional<double> cap = {};  ///< the largest error of any element
  bool either = false;             ///< an element is right by one of the two figures, not by their sum

  friend bool operator==(const Figures&, const Figures&) = default;
};

/// The value of `tolerance` for the figures; for those that a task cannot have, kernelsmith's own rule.
std::string tolerance_value(const Figures& figures);
/// Comments on figures that a task cannot have; empty if it has them all.
std::string tolerance_comment(const Figures& figures);
/// The line of task.yaml, and its comments.
std::string tolerance_line(const Figures& figures);

/// A shape of the task.
struct TaskWorkload {
  std::string name;
  /// The arguments of get_inputs() and their values: numbers, true and false, and texts in quotation marks.
  std::vector<std::pair<std::string, std::string>> arguments = {};
  int weight = 1;
  bool check = false;          ///< only checked, not timed
  std::string tolerance = {};  ///< tolerance_value(), if it is not the task's
};

struct TaskText {
  std::string arena, name, description, precision;
  std::string tolerance = {};                ///< a line with the key, and comments
  std::vector<TaskWorkload> workloads = {};  ///< none: get_inputs() has no arguments, and one shape
  std::vector<SourceFile> also = {};         ///< files beside reference.py
  std::vector<std::string> notes = {};
};

/// A text in quotation marks, as YAML and Python read it. Control characters are left out.
std::string in_quotes(const std::string& text);

/// The text as a Python literal over several lines.
std::string in_triple_quotes(std::string_view text);

/// Makes the names of workloads unique and printable, and writes the file.
std::string task_yaml(TaskText task);

/// So many of `sizes`, spread evenly over them, as their positions in order. The smallest and the largest are
/// among them; one alone is the median.
std::vector<std::size_t> spread(const std::vector<double>& sizes, std::size_t most);

}  // namespace kernelsmith::arena
