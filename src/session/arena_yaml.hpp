// The task.yaml of an arena's problem: a torch task of many workloads.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::arena {

/// A shape of the task.
struct TaskWorkload {
  std::string name;
  /// The arguments of get_inputs() and their values: numbers, true and false, and texts in quotation marks.
  std::vector<std::pair<std::string, std::string>> arguments = {};
  int weight = 1;
  bool check = false;  ///< only checked, not timed
};

struct TaskText {
  std::string arena, name, description, precision;
  std::string tolerance = {};  ///< a line with the key, and comments; empty: kernelsmith's own rule
  std::vector<TaskWorkload> workloads = {};  ///< none: get_inputs() has no arguments, and one shape
  std::vector<SourceFile> also = {};         ///< files beside reference.py
  std::vector<std::string> notes = {};
};

/// The line `tolerance: ...` of an arena that counts the reference's own output as the truth, or a comment if
/// a task cannot have these figures. `matched` is the share of elements that must be right.
std::string tolerance_line(double rtol, double atol, double matched = 1);

/// A text in quotation marks, as YAML and Python read it. Control characters are left out.
std::string in_quotes(const std::string& text);

/// Makes the names of workloads unique and printable, and writes the file.
std::string task_yaml(TaskText task);

/// So many of `sizes`, spread evenly over them, as their positions in order. The smallest and the largest are
/// among them; one alone is the median.
std::vector<std::size_t> spread(const std::vector<double>& sizes, std::size_t most);

}  // namespace kernelsmith::arena
