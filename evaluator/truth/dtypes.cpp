#include <cmath>

#include <kernelsmith/evaluator/dtypes.hpp>

#include "truth/elements.hpp"

namespace kernelsmith {
namespace {

using truth::visit_dtype;

template <class T>
DtypeTraits traits_for() {
  DtypeTraits traits;
  traits.bytes = sizeof(T);
  if constexpr (truth::SmallRealType<T>) {
    traits.digits = T::kMantissa + 1;
    traits.least_normal = std::ldexp(1.0, 1 - T::kBias);
    traits.least_denormal = std::ldexp(traits.least_normal, -T::kMantissa);
    T highest;
    highest.bits = T::kHighest;
    traits.highest = static_cast<double>(truth::widened(highest));
  } else if constexpr (std::floating_point<T>) {
    using Limits = std::numeric_limits<T>;
    traits.digits = Limits::digits;
    traits.least_normal = static_cast<double>(Limits::min());
    traits.least_denormal = static_cast<double>(Limits::denorm_min());
    traits.highest = static_cast<double>(Limits::max());
  } else if constexpr (std::same_as<T, truth::Boolean>) {
    traits.highest = 1;
  } else {
    traits.lowest = static_cast<double>(std::numeric_limits<T>::min());
    traits.highest = static_cast<double>(std::numeric_limits<T>::max());
  }
  if constexpr (truth::RealType<T>) {
    traits.real = true;
    traits.unit_roundoff = std::ldexp(1.0, -traits.digits);
    traits.lowest = -traits.highest;
  }
  return traits;
}

}  // namespace

const DtypeTraits& traits_of(Dtype dtype) {
  return visit_dtype(dtype, []<class T>(T) -> const DtypeTraits& {
    static const DtypeTraits traits = traits_for<T>();
    return traits;
  });
}

double load_element(Dtype dtype, const std::byte* base, std::size_t i) {
  return visit_dtype(
      dtype, [&]<class T>(T) { return static_cast<double>(truth::widened(truth::load<T>(base, i))); });
}

void store_element(Dtype dtype, std::byte* base, std::size_t i, double value) {
  visit_dtype(dtype, [&]<class T>(T) { truth::store(base, i, truth::element_from<T>(value)); });
}

}  // namespace kernelsmith
