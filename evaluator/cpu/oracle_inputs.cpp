#include "oracle_inputs.hpp"

#include <cmath>
#include <cstring>
#include <numbers>

#include "budget.hpp"
#include "halving.hpp"

namespace kernelsmith {
namespace {

constexpr double kAFewPerturbation = 0x1p-10;

/// Writes declared reals as truth reals, changed by `change`.
template <class Declared, class Real, class Change>
void promote(const Bytes& from, std::byte* to, const Change& change) {
  const std::size_t count = from.size() / sizeof(Declared);
  for (std::size_t i = 0; i < count; ++i)
    store<Real>(to, i, change(static_cast<Real>(load<Declared>(from.data(), i))));
}

template <class Real, class Change>
void promote(Dtype dtype, const Bytes& from, std::byte* to, const Change& change) {
  if (dtype == Dtype::f64) return promote<double, Real>(from, to, change);
  if (dtype == Dtype::f32) return promote<float, Real>(from, to, change);
  std::memcpy(to, from.data(), from.size());
}

}  // namespace

void OracleInputs::lay_out(Dtype dtype, const Bytes& from, const Variant& variant, std::byte* to) {
  if (variant.change == Change::halve_a_few) {
    const auto [change, choice, turn] = variant;
    return lay_out(dtype, halved(from, choice, kPairsForOne, turn), {Change::none, choice, turn}, to);
  }
  if (!promoted_ || !is_real(dtype)) {
    std::memcpy(to, from.data(), from.size());
    if (variant.change == Change::perturb_a_few) copy_a_few_neighbours(bytes_of(dtype), from, to);
  } else if (long_double_) {
    lay_out_as<long double>(dtype, from, variant.change, to);
  } else {
    lay_out_as<double>(dtype, from, variant.change, to);
  }
}

/// Of numbers that may be places in a table only what is there is sure to be allowed.
void OracleInputs::copy_a_few_neighbours(std::size_t size, const Bytes& from, std::byte* to) {
  for (std::size_t at = size; at < from.size(); at += size)
    if (random_.below(kOneOf) == 0) std::memcpy(to + at, from.data() + at - size, size);
}

template <class Real>
void OracleInputs::lay_out_as(Dtype dtype, const Bytes& from, Change change, std::byte* to) {
  if (change == Change::none) return promote<Real>(dtype, from, to, [](Real x) { return x; });
  if (change == Change::absolute) return promote<Real>(dtype, from, to, [](Real x) { return std::fabs(x); });
  if (change == Change::lower)
    return promote<Real>(dtype, from, to,
                         [bits = lower_precision(task_, dtype).bits](Real x) { return rounded(x, bits); });
  if (change == Change::perturb_a_few)
    return promote<Real>(dtype, from, to, [this](Real x) {
      return random_.below(kOneOf) == 0 ? x * static_cast<Real>(1 + kAFewPerturbation) : x;
    });
  // Uniform with unit variance, not signs: those cancel exactly where two inputs weigh the same.
  const double step = step_of(change);
  std::uint64_t bits = 0;
  unsigned left = 0;
  promote<Real>(dtype, from, to, [&](Real x) {
    if (left == 0) {
      bits = random_.word();
      left = 4;
    }
    const auto sixteen = static_cast<double>(bits >> (--left * 16) & 0xffffU);
    const double unit = (sixteen - 32767.5) / 32768 * std::numbers::sqrt3;
    return x * static_cast<Real>(1 + unit * step);
  });
}

}  // namespace kernelsmith
