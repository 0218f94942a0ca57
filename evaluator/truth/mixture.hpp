// What `init: normal` draws: normals, and what makes one set unlike the next.
#pragma once

#include <cstddef>
#include <span>

#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith::truth {

/// What `init: positive` adds: 1 / x stays of the size of the other values.
inline constexpr float kLeastPositive = 1e-3F;

/// Fills rows of `row_length` values by one of seven flavours: plain; rows scaled, shifted or with a peak; a
/// few outliers; values of two kinds in bands, regular or at random.
void draw_mixture(std::span<float> values, std::size_t row_length, SecretStream& random);

}  // namespace kernelsmith::truth
