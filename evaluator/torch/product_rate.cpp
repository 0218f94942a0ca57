#include "product_rate.hpp"

namespace kernelsmith::torch {
namespace {

/// H100 SXM and H200, the fastest GPUs of their architecture: dense products in 16 bits.
constexpr int kHopper = 90;
constexpr double kHopperTflops = 989.4;

/// An fp32 product is three of its factors' halves in fp16, which is faster than any other way.
constexpr double kSplitProducts = 3;
/// A reference's count has what a kernel may leave out because it is zero: padding, and the half of attention
/// behind a causal mask.
constexpr double kNeeded = 0.5;

}  // namespace

double least_products_us(double flops, int arch, const std::string& precision) {
  if (arch != kHopper) return 0;
  const double flops_per_us = kHopperTflops * 1e6 / (precision == "fp32" ? kSplitProducts : 1);
  return kNeeded * flops / flops_per_us;
}

}  // namespace kernelsmith::torch
