#include "arena_schema.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/core/number_text.hpp>

#include "arena_json.hpp"

namespace kernelsmith::arena {
namespace {

struct Width {
  std::string_view dtype;
  double bytes;
};
constexpr std::array<Width, 13> kWidths = {{{"float64", 8},
                                            {"float32", 4},
                                            {"float16", 2},
                                            {"bfloat16", 2},
                                            {"float8_e4m3fn", 1},
                                            {"float8_e5m2", 1},
                                            {"float4_e2m1", 0.5},
                                            {"float4_e2m1fn_x2", 1},
                                            {"int64", 8},
                                            {"int32", 4},
                                            {"int16", 2},
                                            {"int8", 1},
                                            {"bool", 1}}};

bool is_numeral(std::string_view word) {
  const auto number = number_in<std::int64_t>(word);
  return number && *number >= 0 && *number <= kMostExtent && word.front() != '-';
}

/// Words that Python keeps for itself, and that a name of an axis or input would break.
constexpr std::array<std::string_view, 35> kPythonWords = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

/// Whether the Python text defines a function of that name which is not inside another one.
bool has_function(std::string_view text, const std::string& name) {
  return std::ranges::any_of(lines_of(text), [start = "def " + name + "("](std::string_view line) {
    return line.starts_with(start);
  });
}

Axis read_axis(const std::string& name, const At& in) {
  Axis axis{.name = name};
  const std::string type = in["type"].text();
  if (type == "const") {
    axis.kind = Axis::Kind::constant;
    axis.value = in["value"].extent();
  } else if (type == "expr") {
    axis.kind = Axis::Kind::expression;
    axis.expression = in["expression"].text();
  } else if (type != "var") {
    in.refuse("'" + type + "' is not a type of axes", "known types: const, var, expr");
  }
  return axis;
}

Argument read_argument(const std::string& name, const std::vector<Axis>& axes, const At& in) {
  Argument argument{.name = name, .dtype = in["dtype"].text(), .description = in.text_or_none("description")};
  if (!argument.dtype.empty() && element_bytes(argument.dtype) == 0) {
    std::vector<std::string_view> names;
    for (const Width& width : kWidths) names.push_back(width.dtype);
    in.refuse("'" + argument.dtype + "' is not a known dtype", name_hint(argument.dtype, names));
  }
  argument.is_number = in.is_null("shape");
  if (argument.is_number) return argument;
  in["shape"].each_element([&](const At& word) {
    argument.shape.push_back(word.text());
    if (!is_numeral(argument.shape.back()) &&
        std::ranges::find(axes, argument.shape.back(), &Axis::name) == axes.end())
      word.refuse("there is no axis '" + argument.shape.back() + "'");
  });
  return argument;
}

std::vector<Argument> read_arguments(const std::vector<Axis>& axes, const At& in) {
  std::vector<Argument> arguments;
  in.each_member([&](const std::string& name, const At& one) {
    // They become the arguments of Model.forward, which calls run.
    if (!is_identifier(name) || name == "self" || name == "run")
      one.refuse("it cannot be the name of an argument");
    arguments.push_back(read_argument(name, axes, one));
  });
  return arguments;
}

Definition read_definition(const At& in) {
  Definition made{.name = in["name"].text(),
                  .op_type = in.text_or_none("op_type"),
                  .description = in.text_or_none("description"),
                  .reference = in["reference"].text(),
                  .custom_inputs = in.text_or_none("custom_inputs_entrypoint")};
  in["axes"].each_member([&](const std::string& name, const At& axis) {
    if (!is_identifier(name)) axis.refuse("an axis needs a name of letters, digits and _");
    made.axes.push_back(read_axis(name, axis));
  });
  made.inputs = read_arguments(made.axes, in["inputs"]);
  made.outputs = read_arguments(made.axes, in["outputs"]);
  if (made.outputs.empty()) in["outputs"].refuse("at least one output is needed");
  if (in.has("constraints"))
    in["constraints"].each_element([&](const At& one) { made.constraints.push_back(one.text()); });
  if (made.reference.find('\0') != std::string::npos) in["reference"].refuse("it has a zero byte");
  if (!has_function(made.reference, "run"))
    in["reference"].refuse("it does not define run",
                           "a reference is Python text with `def run(...)` at the left margin");
  if (!made.custom_inputs.empty() &&
      (!is_identifier(made.custom_inputs) || !has_function(made.reference, made.custom_inputs)))
    in["custom_inputs_entrypoint"].refuse("the reference does not define '" + made.custom_inputs + "'");
  return made;
}

Given read_given(const At& in) {
  const std::string type = in["type"].text();
  if (type == "scalar") return {.kind = Given::Kind::number, .number = in["value"].python_number()};
  if (type == "safetensors")
    return {.kind = Given::Kind::safetensors, .path = in["path"].text(), .key = in["tensor_key"].text()};
  if (type == "custom") return {.kind = Given::Kind::custom};
  if (type != "random")
    in.refuse("'" + type + "' is not a type of inputs", "known types: random, scalar, safetensors, custom");
  return {};
}

Workload read_workload(const At& in) {
  Workload made{.uuid = in["uuid"].text(), .text = in.dump()};
  in["axes"].each_member(
      [&](const std::string& name, const At& extent) { made.axes[name] = extent.extent(); });
  in["inputs"].each_member(
      [&](const std::string& name, const At& given) { made.inputs[name] = read_given(given); });
  if (!in.has("tolerance")) return made;
  const At tolerance = in["tolerance"];
  made.allowed = {.atol = tolerance.figure_or_none("max_atol"),
                  .rtol = tolerance.figure_or_none("max_rtol"),
                  .ratio = tolerance.figure_or_none("required_matched_ratio"),
                  .cap = tolerance.figure_or_none("max_error_cap"),
                  .negative_inf = tolerance.flag("allow_negative_inf")};
  return made;
}

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && std::ranges::find(kPythonWords, name) == kPythonWords.end() &&
         !(name.front() >= '0' && name.front() <= '9') && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
         });
}

Result<Definition> parse_definition(std::string_view text, const std::string& where) {
  auto definition = read_json(text, where, read_definition);
  if (definition) definition->text = text;
  return definition;
}

Result<std::vector<Workload>> parse_workloads(std::string_view text, const std::string& where) {
  std::vector<Workload> workloads;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (trimmed(line).empty()) continue;
    auto workload = read_json(line, where + ":" + std::to_string(number), [](const At& in) {
      return read_workload(in.has("workload") ? in["workload"] : in);
    });
    if (!workload) return workload.error();
    workloads.push_back(std::move(*workload));
  }
  if (workloads.empty()) return fail(ErrorCode::bad_input, "it has no workloads", where);
  return workloads;
}

Result<Axes> axes_at(const Definition& definition, const Workload& workload) {
  const std::string where = definition.name + ", workload " + workload.uuid;
  Axes axes;
  for (const Axis& axis : definition.axes) {
    const auto given = workload.axes.find(axis.name);
    if (axis.kind == Axis::Kind::constant) axes[axis.name] = axis.value;
    if (axis.kind != Axis::Kind::variable) continue;
    if (given == workload.axes.end())
      return fail(ErrorCode::bad_input, "the axis '" + axis.name + "' has no value", where);
    axes[axis.name] = given->second;
  }
  for (const Axis& axis : definition.axes) {
    if (axis.kind != Axis::Kind::expression) continue;
    const auto value = extent_of(axis.expression, axes);
    if (!value)
      return fail(ErrorCode::bad_input, axis.name + " = " + axis.expression + ": " + value.error().message,
                  where);
    axes[axis.name] = *value;
  }
  return axes;
}

std::vector<std::int64_t> extents_at(const Argument& tensor, const Axes& axes) {
  std::vector<std::int64_t> extents;
  for (const std::string& word : tensor.shape) {
    const auto axis = axes.find(word);
    extents.push_back(axis != axes.end() ? axis->second : number_in<std::int64_t>(word).value_or(0));
  }
  return extents;
}

double element_bytes(std::string_view dtype) {
  const auto* const found = std::ranges::find(kWidths, dtype, &Width::dtype);
  return found == kWidths.end() ? 0 : found->bytes;
}

}  // namespace kernelsmith::arena
