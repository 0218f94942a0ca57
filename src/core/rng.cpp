#include <cassert>
#include <cmath>
#include <numbers>

#include <Random123/philox.h>

#include <kernelsmith/core/rng.hpp>

namespace kernelsmith {
namespace {

__extension__ using UInt128 = unsigned __int128;

}  // namespace

Rng::Rng(std::uint64_t seed, std::uint64_t ticket, Purpose purpose)
    : key_{seed, static_cast<std::uint64_t>(purpose)}, counter_{0, 0, 0, ticket} {}

Rng::result_type Rng::operator()() {
  if (used_ == block_.size()) {
    const r123::Philox4x64::ctr_type counter = {{counter_[0], counter_[1], counter_[2], counter_[3]}};
    const r123::Philox4x64::key_type key = {{key_[0], key_[1]}};
    const auto block = r123::Philox4x64{}(counter, key);
    for (std::size_t i = 0; i < block_.size(); ++i) block_[i] = block[i];
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

std::uint64_t Rng::below(std::uint64_t n) {
  assert(n > 0);
  // Lemire's method, with rejection of the few products that would favour small results.
  const std::uint64_t threshold = (0 - n) % n;
  for (;;) {
    const UInt128 product = static_cast<UInt128>((*this)()) * n;
    if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
  }
}

double Rng::uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::size_t Rng::weighted(std::span<const double> weights) {
  assert(!weights.empty());
  const auto usable = [](double w) { return std::isfinite(w) && w > 0 ? w : 0.0; };
  double total = 0;
  for (const double w : weights) total += usable(w);
  if (!(total > 0) || !std::isfinite(total)) return static_cast<std::size_t>(below(weights.size()));
  double left = uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (usable(weights[i]) == 0) continue;
    last = i;
    left -= usable(weights[i]);
    if (left < 0) return i;
  }
  return last;
}

}  // namespace kernelsmith
