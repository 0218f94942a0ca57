// Arithmetic over named sizes. task.yaml uses it for shapes and declared work.
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

}  // namespace kernelsmith
