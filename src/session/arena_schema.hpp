// The schema that FlashInfer-Bench and SOL-ExecBench share: a definition, and workloads with its axes and
// inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

#include "axis_expression.hpp"

namespace kernelsmith::arena {

/// Beside a task's files, for solutions that people published, and for traces.
inline constexpr std::string_view kDefinitionFile = "definition.json";
inline constexpr std::string_view kWorkloadsFile = "workload.jsonl";

enum class Arena { flashinfer_bench, sol_execbench };

struct Axis {
  enum class Kind { constant, variable, expression };
  std::string name;
  Kind kind = Kind::variable;
  std::int64_t value = 0;  ///< of a constant
  std::string expression = {};
};

/// An input or output of `run`. The words of a shape are axes or numerals.
struct Argument {
  std::string name, dtype, description;
  bool is_number = false;  ///< a Python number instead of a tensor
  std::vector<std::string> shape = {};
};

struct Definition {
  std::string name, op_type, description;
  std::string text = {};      ///< the JSON that it was read from
  std::string reference;      ///< Python text with `run`
  std::string custom_inputs;  ///< a function in `reference` that makes all inputs; may be empty
  std::vector<Axis> axes = {};
  std::vector<Argument> inputs = {}, outputs = {};  ///< inputs in the order of run's arguments
  std::vector<std::string> constraints = {};        ///< Python expressions
};

/// How a workload makes an input.
struct Given {
  enum class Kind { random, number, safetensors, custom };
  Kind kind = Kind::random;
  std::string number = {};          ///< a Python literal
  std::string path = {}, key = {};  ///< of safetensors
};

/// The arena's own tolerance. Empty figures are the arena's defaults.
struct Allowed {
  std::optional<double> atol, rtol, ratio, cap;
  bool negative_inf = false;

  friend bool operator==(const Allowed&, const Allowed&) = default;
};

struct Workload {
  std::string uuid;
  Axes axes = {};
  std::map<std::string, Given, std::less<>> inputs = {};  ///< an absent one is random
  Allowed allowed = {};
  std::string text = {};  ///< the JSON that it was read from
};

/// Whether Python can have it as a name.
bool is_identifier(std::string_view name);

/// Reads a definition.json; `where` is its path in errors. Errors: bad_input, with the key.
Result<Definition> parse_definition(std::string_view text, const std::string& where);

/// Reads workloads, one on a line; FlashInfer-Bench wraps each in a trace. Errors: bad_input, with the line.
Result<std::vector<Workload>> parse_workloads(std::string_view text, const std::string& where);

/// The extents of all axes at the workload. Errors: bad_input.
Result<Axes> axes_at(const Definition& definition, const Workload& workload);

/// The extents of a tensor's dimensions. All names are in `axes` if axes_at() made them.
std::vector<std::int64_t> extents_at(const Argument& tensor, const Axes& axes);

/// The bytes of an element of the dtype; 0 if neither arena has it. 4-bit types have half a byte.
double element_bytes(std::string_view dtype);

}  // namespace kernelsmith::arena
