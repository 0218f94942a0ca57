#include "product_rate.hpp"

#include <algorithm>
#include <array>

namespace kernelsmith::torch {
namespace {

/// Dense products in 16 bits, of the fastest GPU with that architecture, by NVIDIA's data sheets and
/// architecture white papers.
struct Peak {
  int arch;
  double tflops;
};
constexpr std::array<Peak, 7> kPeaks = {{{80, 312},     // A100
                                         {86, 160},     // RTX 3090 Ti; RTX A6000: 155
                                         {89, 364},     // RTX 6000 Ada; L40S: 362
                                         {90, 990},     // H100 SXM, H200, GH200
                                         {100, 2500},   // GB200; B200: 2250
                                         {103, 2500},   // GB300
                                         {120, 504}}};  // RTX PRO 6000 Blackwell

/// An fp32 product is three of its factors' halves in fp16, which is faster than any other way.
constexpr double kSplitProducts = 3;
/// A reference's count has what a kernel may leave out because it is zero: padding, and the half of attention
/// behind a causal mask.
constexpr double kNeeded = 0.5;

}  // namespace

double least_products_us(double flops, int arch, const std::string& precision) {
  const auto* const peak = std::ranges::find(kPeaks, arch, &Peak::arch);
  if (peak == kPeaks.end()) return 0;
  const double flops_per_us = peak->tflops * 1e6 / (precision == "fp32" ? kSplitProducts : 1);
  return kNeeded * flops / flops_per_us;
}

}  // namespace kernelsmith::torch
