// Integers that are made from reals and may be one more or less because of rounding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <kernelsmith/evaluator/expected.hpp>

#include "truth/elements.hpp"

namespace kernelsmith::truth {

/// Whether two integers are next to each other.
template <class T>
bool is_one_step(T a, T b) {
  if constexpr (std::same_as<T, Boolean>)
    return widened(a) != widened(b);
  else
    return (a < b && static_cast<T>(b - 1) == a) || (b < a && static_cast<T>(a - 1) == b);
}

/// Marks where `answer` is one step from the expected value.
inline void mark_steps(std::span<const std::byte> answer, Expected& expected) {
  if (std::ranges::equal(answer, expected.values)) return;
  visit_dtype(expected.dtype, [&]<class T>(T) {
    if constexpr (!RealType<T>) {
      const std::size_t elements = answer.size() / sizeof(T);
      expected.steps.resize(elements);
      for (std::size_t i = 0; i < elements; ++i)
        if (is_one_step(load<T>(answer.data(), i), load<T>(expected.values.data(), i)))
          expected.steps[i] = std::byte{1};
    }
  });
}

/// Sets how many unmarked integers may step, too. Call it after all marking.
inline void count_steps(Expected& expected) {
  // Eight samples miss one step in 256.
  constexpr std::size_t kMarkedForOneMore = 16;
  const auto marked = static_cast<std::size_t>(std::ranges::count(expected.steps, std::byte{1}));
  expected.more_steps = (marked + kMarkedForOneMore - 1) / kMarkedForOneMore;
  if (marked == 0) expected.steps.clear();
}

}  // namespace kernelsmith::truth
