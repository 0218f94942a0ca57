#include "product_rate.hpp"

#include <algorithm>

#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>

namespace kernelsmith::torch {
namespace {

constexpr GpuPeaks kPeaks[] = {
    {"H100 80GB HBM3", 3350, 66.9, 494.7, 989.4, 90},
    {"H200", 4800, 66.9, 494.7, 989.4, 90},
    {"H100 PCIe", 2039, 51.2, 378, 756},
    {"A100-SXM4-80GB", 2039, 19.5, 156, 312},
    {"L40S", 864, 91.6, 183, 362},
    {"B200", 8000, 80, 1100, 2250},
};

/// The fastest way to make an fp32 product is by three fp16 products of its factors' halves.
constexpr double kSplitProducts = 3;
/// A reference's count includes zeros that a kernel may skip: padding, and the half of attention that a
/// causal mask removes.
constexpr double kNeeded = 0.5;

}  // namespace

double least_products_us(double flops, int arch, const std::string& precision) {
  const auto* const fastest = std::ranges::find(kPeaks, arch, &GpuPeaks::fastest_of);
  if (fastest == std::end(kPeaks)) return 0;
  const double flops_per_us = fastest->half * 1e6 / (precision == "fp32" ? kSplitProducts : 1);
  return kNeeded * flops / flops_per_us;
}

}  // namespace kernelsmith::torch

std::span<const kernelsmith::GpuPeaks> kernelsmith::gpu_peaks() { return torch::kPeaks; }
