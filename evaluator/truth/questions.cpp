#include "truth/questions.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include <kernelsmith/evaluator/dtypes.hpp>

#include "truth/elements.hpp"

namespace kernelsmith {

OraclePrecision truth_precision(const Task& task) {
  const auto any = [&](const auto& what) { return std::ranges::any_of(task.tensors, what); };
  if (task.tolerance.policy == "exact") return OraclePrecision::declared;
  if (any([](const TensorSpec& tensor) { return tensor.dtype == Dtype::f64; }))
    return OraclePrecision::long_double;
  return any([](const TensorSpec& tensor) { return traits_of(tensor.dtype).real; })
             ? OraclePrecision::f64
             : OraclePrecision::declared;
}

namespace truth {
namespace {

/// Uniform numbers of unit variance, four from each random word. Mere signs would cancel exactly if two
/// inputs have the same weight.
class Units {
 public:
  explicit Units(SecretStream& random) : random_(random) {}
  double operator()() {
    if (left_ == 0) {
      bits_ = random_.word();
      left_ = 4;
    }
    const auto sixteen = static_cast<double>(bits_ >> (--left_ * 16) & 0xffffU);
    return (sixteen - 32767.5) / 32768 * std::numbers::sqrt3;
  }

 private:
  SecretStream& random_;
  std::uint64_t bits_ = 0;
  unsigned left_ = 0;
};

/// Writes a tensor of reals as Reals, with `change` applied to each.
template <class Real, class Function>
void lay_out(Dtype dtype, const Bytes& from, std::byte* to, const Function& change) {
  visit_dtype(dtype, [&]<class T>(T) {
    if constexpr (RealType<T>)
      for (std::size_t i = 0; i < from.size() / sizeof(T); ++i)
        store<Real>(to, i, change(static_cast<Real>(widened(load<T>(from.data(), i)))));
  });
}

template <class Real>
void lay_out_changed(const TensorSpec& tensor, const Bytes& from, std::byte* to, const Change& change,
                     SecretStream& random) {
  const bool as_they_are = change.kind != Change::absolute && !is_perturbed(tensor);
  if (change.kind == Change::none || as_they_are)
    return lay_out<Real>(tensor.dtype, from, to, [](Real x) { return x; });
  if (change.kind == Change::absolute)
    return lay_out<Real>(tensor.dtype, from, to, [](Real x) { return std::fabs(x); });
  if (change.kind == Change::perturb_a_few)
    return lay_out<Real>(tensor.dtype, from, to, [&](Real x) {
      return random.below(kOneOf) == 0 ? x * static_cast<Real>(1 + change.step) : x;
    });
  Units unit(random);
  lay_out<Real>(tensor.dtype, from, to,
                [&](Real x) { return x * static_cast<Real>(1 + unit() * change.step); });
}

/// If numbers may be indices in a table, only existing values are certain to be valid.
void copy_a_few_neighbours(std::size_t size, const Bytes& from, std::byte* to, SecretStream& random) {
  for (std::size_t at = size; at < from.size(); at += size)
    if (random.below(kOneOf) == 0) std::memcpy(to + at, from.data() + at - size, size);
}

}  // namespace

bool is_perturbed(const TensorSpec& tensor) {
  return tensor.role != TensorRole::out && traits_of(tensor.dtype).real && tensor.init != TensorInit::range &&
         tensor.init != TensorInit::offsets && tensor.init != TensorInit::permutation &&
         tensor.init != TensorInit::one_hot;
}

bool has_budget(const TensorSpec& tensor) {
  return tensor.role != TensorRole::in && traits_of(tensor.dtype).real;
}

double step_for_sensitivity(const Task& task) {
  const auto whole = [](const TensorSpec& tensor) {
    return is_perturbed(tensor) && tensor.init == TensorInit::integer;
  };
  return std::ranges::any_of(task.tensors, whole) ? 0x1p-11 : 0x1p-20;
}

Status ask(const Task& task, Oracle& oracle, std::size_t shape, const Inputs& inputs, const Change& change,
           SecretStream& random) {
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    const TensorSpec& tensor = task.tensors[t];
    if (tensor.role == TensorRole::out) continue;
    std::byte* const to = oracle.input(shape, t).data();
    if (oracle.precision() == OraclePrecision::declared || !traits_of(tensor.dtype).real) {
      std::memcpy(to, inputs[t].data(), inputs[t].size());
      if (change.kind == Change::perturb_a_few)
        copy_a_few_neighbours(bytes_of(tensor.dtype), inputs[t], to, random);
    } else if (oracle.precision() == OraclePrecision::long_double) {
      lay_out_changed<long double>(tensor, inputs[t], to, change, random);
    } else {
      lay_out_changed<double>(tensor, inputs[t], to, change, random);
    }
  }
  return oracle.answer(shape);
}

Inputs perturbed(const Task& task, Inputs inputs, double step, SecretStream& random) {
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    if (!is_perturbed(task.tensors[t])) continue;
    Units unit(random);
    change_reals(task.tensors[t].dtype, inputs[t], [&](double x) { return x * (1 + unit() * step); });
  }
  return inputs;
}

}  // namespace truth
}  // namespace kernelsmith
