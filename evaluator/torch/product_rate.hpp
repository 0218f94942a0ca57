// How fast a GPU can multiply at best, which says when work of the reference was left out. Pure functions.
#pragma once

#include <string>

namespace kernelsmith::torch {

/// In less than this a GPU of `arch` (ten times major plus minor) cannot do products of so many
/// floating-point operations, by whatever way is right in the declared precision; 0 where the GPU is not
/// known.
double least_products_us(double flops, int arch, const std::string& precision);

}  // namespace kernelsmith::torch
