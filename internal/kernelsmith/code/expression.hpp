// Arithmetic and conditions over named whole numbers: shapes and declared work in task.yaml, rules of knobs.
#pragma once

#include <cstdint>
#include <string_view>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

/// Evaluates `text`: integers, names of `sizes`, + - * / % with the usual precedence, unary minus and
/// parentheses. Division truncates. Refuses (`bad_input`) broken syntax, an unknown name (with the nearest
/// known one as a hint), division by zero, overflow, and nesting deeper than 64.
Result<std::int64_t> evaluate_expression(std::string_view text, const Sizes& sizes);

/// Whether the condition `text` holds: expressions with == != < <= > >= (one between two sides), `and`, `or`,
/// `not` or && || !, and parentheses; a number alone holds unless it is 0. What is right of `and` and `or` is
/// evaluated only if it decides. Refuses what evaluate_expression() does.
Result<bool> evaluate_condition(std::string_view text, const Sizes& names);

}  // namespace kernelsmith
