#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <kernelsmith/evaluator/precision.hpp>

#include "truth/bank.hpp"
#include "truth/elements.hpp"
#include "truth/truth.hpp"

namespace kernelsmith {
namespace truth {
namespace {

constexpr std::size_t kSets = 6;
/// The key is not secret, because no kernel is judged with these inputs.
constexpr std::uint64_t kKey = 0x707265636973;

/// The precision below the one that a task requires, by its significant bits.
struct LowerPrecision {
  const char* name;
  int bits;
};

LowerPrecision lower_precision(const Task& task, Dtype dtype) {
  const int digits = traits_of(dtype).digits;
  if (digits <= 4) return {"two digits", 2};
  if (digits <= 8 || allows(task, "bf16_accumulate")) return {"f8", 4};
  if (digits <= 11 || allows(task, "tf32") || allows(task, "f16_accumulate")) return {"bf16", 8};
  return digits <= 24 ? LowerPrecision{"tf32", 11} : LowerPrecision{"f32", 24};
}

/// Rounds to this many significant bits.
template <class Real>
Real rounded(Real x, int bits) {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  const Real mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

/// In every pair of neighbouring cache lines one is a copy of the other. The function's result for such
/// inputs is that of a kernel that ignores half of the original inputs and counts the other half twice.
Bytes halved(const Bytes& from, SecretStream& random) {
  constexpr std::size_t kLine = 64, kPair = 2 * kLine;
  Bytes to = from;
  for (std::size_t at = 0; at + kPair <= to.size(); at += kPair) {
    const std::size_t kept = random.below(2) == 0 ? 0 : kLine;
    std::memcpy(to.data() + at + (kLine - kept), from.data() + at + kept, kLine);
  }
  return to;
}

class PrecisionCheckMaker {
 public:
  PrecisionCheckMaker(const Task& task, const std::vector<TaskShape>& shapes, Truth& truth)
      : task_(task), shapes_(shapes), truth_(truth), oracle_(*truth.oracles().wide) {}

  Result<PrecisionCheck> check(std::size_t shape) {
    PrecisionCheck check;
    check.shape = shapes_[shape].name;
    check.lower = lower_precision(task_, std::ranges::find_if(task_.tensors, has_budget)->dtype).name;
    halves_.assign(task_.tensors.size(), {});
    std::vector<InputSet> sets;
    for (; check.sets < kSets; ++check.sets) {
      auto set = truth_.make_set(shape, {{kKey, check.sets}, {kKey, kKey}, false});
      if (!set) return set.error();
      const auto caught = catches_lower_precision(shape, *set);
      if (!caught) return caught.error();
      check.caught += *caught ? 1U : 0U;
      for (std::size_t t = 0; t < halves_.size(); ++t)
        if (auto s = try_half(shape, *set, t); !s) return s.error();
      sets.push_back(std::move(*set));
    }
    for (std::size_t t = 0; t < halves_.size(); ++t)
      if (halves_[t].changed && !halves_[t].caught) check.negligible.push_back(task_.tensors[t].name);
    for (std::size_t t = 0; t < task_.tensors.size(); ++t)
      if (task_.tensors[t].role != TensorRole::in && is_unmoved(sets, t))
        check.unmoved.push_back(task_.tensors[t].name);
    return check;
  }

 private:
  /// Sums over all sets.
  struct Half {
    bool changed = false, caught = false;
  };

  Result<bool> catches_lower_precision(std::size_t shape, const InputSet& set) {
    Inputs inputs = set.inputs;
    for (std::size_t t = 0; t < inputs.size(); ++t)
      if (is_perturbed(task_.tensors[t]))
        change_reals(task_.tensors[t].dtype, inputs[t],
                     [bits = bits_of(t)](double x) { return rounded(x, bits); });
    if (auto s = ask(task_, oracle_, shape, inputs, {}, random_); !s) return s.error();
    return is_caught(shape, set, inputs == set.inputs);
  }

  Status try_half(std::size_t shape, const InputSet& set, std::size_t tensor) {
    if (task_.tensors[tensor].role == TensorRole::out || halves_[tensor].caught) return {};
    Inputs inputs = set.inputs;
    inputs[tensor] = halved(set.inputs[tensor], random_);
    if (inputs[tensor] == set.inputs[tensor]) return {};
    if (auto s = ask(task_, oracle_, shape, set.inputs, {}, random_); !s) return s;
    const std::vector<Bytes> plain = answers(shape);
    if (auto s = ask(task_, oracle_, shape, inputs, {}, random_); !s) return s;
    if (answers(shape) == plain) return {};
    halves_[tensor].changed = true;
    halves_[tensor].caught = is_caught(shape, set, false);
    return {};
  }

  int bits_of(std::size_t tensor) const { return lower_precision(task_, task_.tensors[tensor].dtype).bits; }

  std::vector<Bytes> answers(std::size_t shape) {
    std::vector<Bytes> all;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      if (task_.tensors[t].role == TensorRole::in) continue;
      const auto answer = oracle_.output(shape, t);
      all.emplace_back(answer.begin(), answer.end());
    }
    return all;
  }

  /// Whether a kernel with the oracle's last answer would be rejected. With `round_outputs` the answer is
  /// first rounded to the lower precision; that is for inputs that are already exact in it.
  bool is_caught(std::size_t shape, const InputSet& set, bool round_outputs) {
    constexpr std::uint32_t kPoison = 0x7fa00000U;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      if (!has_budget(task_.tensors[t])) continue;
      const int bits = round_outputs ? bits_of(t) : traits_of(task_.tensors[t].dtype).digits + 1;
      const Bytes written = oracle_.precision() == OraclePrecision::long_double
                                ? declared<long double>(shape, t, bits)
                                : declared<double>(shape, t, bits);
      if (compare_output(set.outputs[t], written, kPoison).fault != Fault::none) return true;
    }
    return false;
  }

  template <class Real>
  Bytes declared(std::size_t shape, std::size_t tensor, int bits) {
    const bool round = bits <= traits_of(task_.tensors[tensor].dtype).digits;
    const std::byte* const answer = oracle_.output(shape, tensor).data();
    Bytes bytes(shapes_[shape].extents[tensor].bytes);
    visit_dtype(task_.tensors[tensor].dtype, [&]<class T>(T) {
      for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
        const Real value = load<Real>(answer, i);
        store(bytes.data(), i, element_from<T>(round ? rounded(value, bits) : value));
      }
    });
    return bytes;
  }

  const Task& task_;
  const std::vector<TaskShape>& shapes_;
  Truth& truth_;
  Oracle& oracle_;
  SecretStream random_{{kKey, ~kKey}};
  std::vector<Half> halves_;  ///< results by tensor
};

}  // namespace
}  // namespace truth

Result<std::vector<PrecisionCheck>> check_precision(const Task& task, const OracleFactory& oracles) {
  std::vector<PrecisionCheck> checks;
  if (truth_precision(task) == OraclePrecision::declared ||
      std::ranges::none_of(task.tensors, truth::has_budget))
    return checks;
  const std::vector<TaskShape> shapes = shapes_of(task);
  auto truth = truth::Truth::create(task, shapes, oracles);
  if (!truth) return truth.error();
  truth::PrecisionCheckMaker maker(task, shapes, *truth);
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    if (!shapes[shape].timed) continue;
    auto check = maker.check(shape);
    if (!check) return check.error();
    checks.push_back(std::move(*check));
  }
  return checks;
}

}  // namespace kernelsmith
