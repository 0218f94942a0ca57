// Arithmetic over the axes of an arena's problem, as in Python.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::arena {

/// Names of axes and their extents.
using Axes = std::map<std::string, std::int64_t, std::less<>>;

/// The largest extent. Doubles hold all whole numbers up to it, so the arithmetic is exact.
inline constexpr std::int64_t kMostExtent = std::int64_t{1} << 53;

/// The value of numbers, axes, + - * / // % **, signs and parentheses, with Python's precedence. The message
/// says what is wrong, without a place. Errors: bad_input; also for a value that is not a whole number from
/// 0.
Result<std::int64_t> extent_of(std::string_view expression, const Axes& axes);

}  // namespace kernelsmith::arena
