// How fast a GPU can multiply at best, which says when work of the reference was left out. Pure functions.
#pragma once

#include <string>

namespace kernelsmith::torch {

/// The table is gpu_peaks(). The least microseconds in which a GPU of `arch` (ten times major plus minor) can
/// do products of so many floating-point operations, in any way that is right in the declared precision; 0
/// for a GPU whose peak is not known.
double least_products_us(double flops, int arch, const std::string& precision);

}  // namespace kernelsmith::torch
