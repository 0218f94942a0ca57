// The peak rate of products on a GPU, which shows whether a candidate left out work of the reference. Pure
// functions.
#pragma once

#include <string>

namespace kernelsmith::torch {

/// The shortest time in microseconds of products with this many floating-point operations on a GPU of `arch`
/// (ten times major plus minor), by any method that is correct in the declared precision; 0 for a GPU with
/// unknown peak. Uses gpu_peaks().
double least_products_us(double flops, int arch, const std::string& precision);

}  // namespace kernelsmith::torch
