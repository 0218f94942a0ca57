#include "truth/probe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>

#include "truth/elements.hpp"
#include "truth/evidence.hpp"
#include "truth/questions.hpp"

namespace kernelsmith::truth {
namespace {

/// Any key works. It is not secret, because no kernel is judged with these inputs.
constexpr std::array<std::uint64_t, 2> kProbeKey = {0x6b65726e656c, 0x70726f6265};

struct Range {
  double from, to;
};

/// The range has both signs, because for positive inputs every function equals its answer to absolute inputs.
/// It is wide, to detect functions that are linear only near zero.
constexpr Range kWide = {-16, 16};
/// A range with both signs, one with one sign, and a wider one for functions that are flat on the first.
constexpr Range kUsual[] = {{-2, 2}, {0.5, 1.5}, {-4, 4}};

/// Recognises sums of products: the answer to absolute values bounds the answer everywhere. Nearly everywhere
/// this bound is no larger than cancellation explains (a sensitivity from few samples is sometimes too
/// small), and nowhere larger than chance explains. The bound is not far below |y| + D either, as it can be
/// for functions that depend only on the inputs' magnitude. Zeros are not informative.
template <class Real>
bool looks_like_sums(const Evidence<Real>& evidence) {
  constexpr double kSlack = 1 + 1e-9, kMostCancellation = 64, kBeyondChance = 1024, kSteep = 8;
  constexpr double kExceptions = 0.02, kTelling = 0.25;
  std::size_t exceptions = 0, telling = 0;
  for (std::size_t i = 0; i < evidence.truth.size(); ++i) {
    const double absolute = evidence.absolute[i], reach = evidence.reach(i);
    if (!(evidence.magnitude(i) <= absolute * kSlack)) return false;
    if (!(absolute <= kBeyondChance * reach) || !(reach <= kSteep * absolute)) return false;
    if (!(absolute <= kMostCancellation * reach)) ++exceptions;
    if (absolute > 0) ++telling;
  }
  const auto all = static_cast<double>(evidence.truth.size());
  return static_cast<double>(exceptions) <= kExceptions * all &&
         static_cast<double>(telling) >= kTelling * all;
}

template <class Real>
class Probe {
 public:
  Probe(const Task& task, const std::vector<TaskShape>& shapes, Oracles& oracles)
      : task_(task), shapes_(shapes), oracles_(oracles) {}

  Result<Nature> find() {
    Nature nature;
    nature.scale = Scale::absolute;
    for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
      if (nature.scale == Scale::absolute) {
        const auto sums = sums_products(shape);
        if (!sums) return sums.error();
        if (!*sums) nature.scale = Scale::sensitivity;
      }
      auto terms = task_.declared.accumulate.empty() ? count_terms(shape) : declared_terms(shape);
      if (!terms) return terms.error();
      nature.terms.push_back(std::move(*terms));
    }
    return nature;
  }

 private:
  using Terms = std::vector<double>;

  Status ask_wide(std::size_t shape, const Inputs& inputs, const Change& change) {
    return ask(task_, *oracles_.wide, shape, inputs, change, random_);
  }

  /// The cheaper scale is used only if all outputs look like sums.
  Result<bool> sums_products(std::size_t shape) {
    constexpr std::size_t kPerturbations = 8;
    const auto inputs = draw_evenly(shape, kWide);
    if (!inputs) return inputs.error();
    const auto evidence =
        gather<Real>(task_, shapes_, *oracles_.wide, shape, *inputs, {true, kPerturbations}, random_);
    if (!evidence) return evidence.error();
    for (std::size_t t = 0; t < evidence->size(); ++t)
      if (has_budget(task_.tensors[t]) && !looks_like_sums((*evidence)[t])) return false;
    return true;
  }

  Result<Terms> declared_terms(std::size_t shape) {
    const auto terms = evaluate_expression(task_.declared.accumulate, shapes_[shape].sizes);
    if (!terms) return terms.error();
    return Terms(task_.tensors.size(), static_cast<double>(std::max<std::int64_t>(*terms, 1)));
  }

  /// If most elements of an output do not change when one input in kOneOf changes, it depends on few inputs.
  /// Then it is elementwise, not a sum along a dimension.
  Result<Terms> count_terms(std::size_t shape) {
    constexpr double kFewInputs = 10;
    const double most_unmoved = std::pow(1 - 1.0 / static_cast<double>(kOneOf), kFewInputs);
    const double most = most_terms(shape);
    Terms terms(task_.tensors.size(), std::min(most, kFewInputs));
    for (const Range& range : kUsual) {
      const auto few = [&](std::size_t t) { return has_budget(task_.tensors[t]) && terms[t] < most; };
      bool any = false;
      for (std::size_t t = 0; t < terms.size(); ++t) any = any || few(t);
      if (!any) break;
      const auto unmoved = unmoved_shares(shape, range);
      if (!unmoved) return unmoved.error();
      for (std::size_t t = 0; t < terms.size(); ++t)
        if (few(t) && (*unmoved)[t] <= most_unmoved) terms[t] = most;
    }
    return terms;
  }

  /// For each tensor, the share of an output's elements that do not change when a few inputs change.
  Result<std::vector<double>> unmoved_shares(std::size_t shape, Range range) {
    constexpr double kStep = 0x1p-10;
    const auto inputs = draw_evenly(shape, range);
    if (!inputs) return inputs.error();
    const auto evidence = gather<Real>(task_, shapes_, *oracles_.wide, shape, *inputs, {}, random_);
    if (!evidence) return evidence.error();
    if (auto s = ask_wide(shape, *inputs, {Change::perturb_a_few, kStep}); !s) return s.error();
    std::vector<double> shares(task_.tensors.size());
    for (std::size_t t = 0; t < shares.size(); ++t) {
      if (!has_budget(task_.tensors[t])) continue;
      const std::vector<Real>& truth = (*evidence)[t].truth;
      const std::byte* const moved = oracles_.wide->output(shape, t).data();
      std::size_t same = 0;
      for (std::size_t i = 0; i < truth.size(); ++i) same += truth[i] == load<Real>(moved, i) ? 1U : 0U;
      shares[t] = static_cast<double>(same) / static_cast<double>(truth.size());
    }
    return shares;
  }

  /// Replaces the mixture of kernels' inputs by reals between two numbers, because a function's kind must not
  /// depend on which inputs were drawn. Tensors with a narrower range, which a function may need, are left as
  /// drawn, and positive ones stay positive.
  Result<Inputs> draw_evenly(std::size_t shape, Range range) {
    auto inputs = draw_inputs(task_, shapes_, shape, {kProbeKey, kProbeKey, false}, oracles_.generator.get());
    for (std::size_t t = 0; inputs && t < inputs->size(); ++t) {
      const TensorSpec& tensor = task_.tensors[t];
      const bool any_real = tensor.init == TensorInit::normal || tensor.init == TensorInit::uniform ||
                            tensor.init == TensorInit::zeros || tensor.init == TensorInit::positive ||
                            tensor.init == TensorInit::ties;
      if (!is_perturbed(tensor) || !any_real) continue;
      const double least = tensor.init == TensorInit::positive ? std::max(range.from, 1e-3) : range.from;
      for (std::size_t i = 0; i < shapes_[shape].extents[t].elements; ++i)
        store_element(tensor.dtype, (*inputs)[t].data(), i, least + random_.uniform() * (range.to - least));
    }
    return inputs;
  }

  bool in_an_output(const std::string& dimension) const {
    return std::ranges::any_of(task_.tensors, [&](const TensorSpec& tensor) {
      return tensor.role != TensorRole::in &&
             std::ranges::find(tensor.shape, dimension) != tensor.shape.end();
    });
  }

  /// The product of an input's dimensions that no output has, or its longest dimension if that is more,
  /// because a normalisation sums over it.
  double most_terms(std::size_t shape) const {
    double most = 1;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      if (task_.tensors[t].role == TensorRole::out) continue;
      double product = 1;
      for (std::size_t d = 0; d < task_.tensors[t].shape.size(); ++d) {
        const auto dimension = static_cast<double>(shapes_[shape].extents[t].shape[d]);
        if (!in_an_output(task_.tensors[t].shape[d])) product *= dimension;
        most = std::max({most, dimension, product});
      }
    }
    return most;
  }

  const Task& task_;
  const std::vector<TaskShape>& shapes_;
  Oracles& oracles_;
  SecretStream random_{kProbeKey};
};

}  // namespace

Result<Nature> probe(const Task& task, const std::vector<TaskShape>& shapes, Oracles& oracles) {
  if (oracles.wide->precision() == OraclePrecision::long_double)
    return Probe<long double>(task, shapes, oracles).find();
  return Probe<double>(task, shapes, oracles).find();
}

}  // namespace kernelsmith::truth
