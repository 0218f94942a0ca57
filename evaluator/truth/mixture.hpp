// Draws `init: normal`: normals, varied so that sets differ.
#pragma once

#include <cstddef>
#include <span>

#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith::truth {

/// The offset of `init: positive`, so that 1 / x has the magnitude of the other values.
inline constexpr float kLeastPositive = 1e-3F;

/// Fills rows of `row_length` values in one of seven ways: plain; rows scaled, shifted or with a peak; a few
/// outliers; values of two kinds in bands, regular or at random.
void draw_mixture(std::span<float> values, std::size_t row_length, SecretStream& random);

}  // namespace kernelsmith::truth
