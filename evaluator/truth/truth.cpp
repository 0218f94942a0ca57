#include "truth.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "answers.hpp"
#include "budget.hpp"
#include "expectation.hpp"
#include "halving.hpp"
#include "inputs.hpp"
#include "oracle.hpp"

namespace kernelsmith {
namespace {

/// Of the variants of an answer that tells what halving costs.
constexpr std::ptrdiff_t kHalves = kPerturbations / 2;

struct Range {
  double from, to;
};

/// Inputs of one sign and of both, as most are, and further ones for what is flat between those.
constexpr Range kProbes[] = {{0.5, 1.5}, {-2, 2}, {-4, 4}};
constexpr std::size_t kUsualProbes = 2;
constexpr double kLeastPositive = 1e-3;

bool has_whole_numbers(const Task& task) {
  return std::ranges::any_of(task.tensors, [](const TensorSpec& tensor) {
    return tensor.role != TensorRole::out && tensor.init == TensorInit::integer && is_real(tensor.dtype);
  });
}

/// Every other perturbation is a coarse one where the task has whole numbers and there are several.
std::vector<Change> first_changes(const Task& task, std::size_t variants) {
  std::vector<Change> changes(variants, Change::perturb);
  changes[kPlain] = Change::none;
  if (variants > kAbsolute) changes[kAbsolute] = Change::absolute;
  if (variants == kAllVariants && has_whole_numbers(task))
    for (std::size_t v = kFirstPerturbed + 1; v < variants; v += 2) changes[v] = Change::perturb_coarsely;
  return changes;
}

}  // namespace

struct Truth::State {
  const Task& task;
  const std::vector<TaskShape>& shapes;
  Oracle oracle;
  Scale scale = Scale::sensitivity;
  /// By shape and tensor: what an output may be the sum of, and what leaving out half of it costs.
  std::vector<std::vector<double>> terms_{}, half_{};

  template <class Real>
  Expected expected(std::size_t shape, std::size_t tensor, const Bytes& without_specials) const {
    const Dtype dtype = task.tensors[tensor].dtype;
    const std::size_t elements = shapes[shape].extents[tensor].elements;
    const bool normwise = task.tolerance.policy == "normwise";
    const auto budget = [&](bool beside_specials) {
      return budget_of(task, dtype, scale, terms_[shape][tensor], half_[shape][tensor], beside_specials);
    };
    Budgets budgets{budget(false), budget(true)};
    const auto all = oracle.answers<Real>(shape, tensor, variants(shape));
    if (!without_specials.empty())
      for (std::size_t i = 0; i < elements; ++i)
        budgets.touched.push_back(load<Real>(without_specials.data(), i) != all.plain(i));
    if (dtype == Dtype::f64)
      return expected_from<double, double>(all, scale, elements, dtype, budgets, normwise);
    return budgets.plain.tiny < static_cast<double>(std::numeric_limits<float>::min())
               ? expected_from<float, double>(all, scale, elements, dtype, budgets, normwise)
               : expected_from<float, float>(all, scale, elements, dtype, budgets, normwise);
  }

  /// The plain answer, and what the budget needs beside it: D as an average over the elements needs one
  /// perturbation of many elements, or several of few.
  std::size_t variants(std::size_t shape) const {
    if (!oracle.promoted()) return 1;
    if (scale == Scale::sensitivity) return kAllVariants;
    constexpr std::size_t kEnough = 64;
    std::size_t fewest = kEnough;
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (judges(t)) fewest = std::min(fewest, shapes[shape].extents[t].elements);
    return kFirstPerturbed + std::min((kEnough + fewest - 1) / fewest, kPerturbations);
  }

  /// Whether it is an output that has a budget.
  bool judges(std::size_t tensor) const {
    return task.tensors[tensor].role != TensorRole::in && is_real(task.tensors[tensor].dtype);
  }

  bool in_an_output(const std::string& dimension) const {
    return std::ranges::any_of(task.tensors, [&](const TensorSpec& tensor) {
      return tensor.role != TensorRole::in &&
             std::ranges::find(tensor.shape, dimension) != tensor.shape.end();
    });
  }

  /// The terms of a sum: the dimensions of an input that no output has, or its longest one, which is what a
  /// normalisation sums over.
  double terms(std::size_t shape) const {
    double most = 1;
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      if (task.tensors[t].role == TensorRole::out) continue;
      double product = 1;
      for (std::size_t d = 0; d < task.tensors[t].shape.size(); ++d) {
        const auto dimension = static_cast<double>(shapes[shape].extents[t].shape[d]);
        if (!in_an_output(task.tensors[t].shape[d])) product *= dimension;
        most = std::max({most, dimension, product});
      }
    }
    return most;
  }

  template <class Real>
  bool sums(std::size_t shape) const {
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (judges(t) &&
          !looks_like_sums(oracle.answers<Real>(shape, t, kAllVariants), shapes[shape].extents[t].elements))
        return false;
    return true;
  }

  std::vector<Bytes> draw_inputs(std::size_t shape) {
    std::vector<Bytes> inputs(task.tensors.size());
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (task.tensors[t].role != TensorRole::out)
        inputs[t] = draw_tensor(task.tensors[t], shapes[shape].extents[t], oracle.inputs().random());
    return inputs;
  }

  /// Reals between two numbers, in the place of the mixture that a kernel is shown: whether a function looks
  /// like sums, and how much it depends on, must not hang on which kinds of inputs were drawn.
  std::vector<Bytes> draw_evenly(std::size_t shape, Range range) {
    auto inputs = draw_inputs(shape);
    for (std::size_t t = 0; t < inputs.size(); ++t) fill_evenly(task.tensors[t].dtype, range, inputs[t]);
    return inputs;
  }

  /// The same, but of tensors that hold something narrower, which a function can need: whole numbers stay
  /// what was drawn, and what is positive is.
  std::vector<Bytes> draw_evenly_as_declared(std::size_t shape, Range range) {
    auto inputs = draw_inputs(shape);
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      const TensorSpec& tensor = task.tensors[t];
      if (tensor.init == TensorInit::integer) continue;
      const double least =
          tensor.init == TensorInit::positive ? std::max(range.from, kLeastPositive) : range.from;
      fill_evenly(tensor.dtype, {least, range.to}, inputs[t]);
    }
    return inputs;
  }

  void fill_evenly(Dtype dtype, Range range, Bytes& bytes) {
    const auto fill = [&]<class Real>(Real) {
      for (std::size_t i = 0; i < bytes.size() / sizeof(Real); ++i) {
        const double unit = static_cast<double>(oracle.inputs().random().word() >> 11U) * 0x1p-53;
        store(bytes.data(), i, static_cast<Real>(range.from + unit * (range.to - range.from)));
      }
    };
    if (dtype == Dtype::f32) fill(float{});
    if (dtype == Dtype::f64) fill(double{});
  }

  /// What a kernel writes that computes exactly with rounded inputs; where these are exact in the lower
  /// precision already, one that rounds its outputs.
  template <class Real>
  Bytes lowered(std::size_t shape, std::size_t tensor, bool inputs_differ) const {
    const Dtype dtype = task.tensors[tensor].dtype;
    const std::size_t elements = shapes[shape].extents[tensor].elements;
    const int bits = inputs_differ ? std::numeric_limits<Real>::digits : lower_precision(task, dtype).bits;
    const auto plain = oracle.answers<Real>(shape, tensor, 1);
    Bytes bytes(elements * bytes_of(dtype));
    for (std::size_t i = 0; i < elements; ++i) {
      const Real value = rounded(plain.plain(i), bits);
      if (dtype == Dtype::f64)
        store(bytes.data(), i, static_cast<double>(value));
      else
        store(bytes.data(), i, static_cast<float>(value));
    }
    return bytes;
  }

  /// Whether the inputs, laid out as doubles, change by being rounded.
  bool rounding_changes(const std::vector<Bytes>& inputs) const {
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const Dtype dtype = task.tensors[t].dtype;
      if (inputs[t].empty() || !is_real(dtype)) continue;
      const int bits = lower_precision(task, dtype).bits;
      for (std::size_t i = 0; i < inputs[t].size() / bytes_of(dtype); ++i) {
        const double x = dtype == Dtype::f64 ? load<double>(inputs[t].data(), i)
                                             : static_cast<double>(load<float>(inputs[t].data(), i));
        if (rounded(x, bits) != x) return true;
      }
    }
    return false;
  }

  /// The share of an output's elements that do not change with a few of the inputs.
  template <class Real>
  double unmoved(std::size_t shape, std::size_t tensor) const {
    const Answers<Real> both = oracle.answers<Real>(shape, tensor, 2);
    const std::size_t elements = shapes[shape].extents[tensor].elements;
    std::size_t same = 0;
    for (std::size_t i = 0; i < elements; ++i) same += both.plain(i) == load<Real>(both.of[1], i) ? 1U : 0U;
    return static_cast<double>(same) / static_cast<double>(elements);
  }

  /// An output of so few inputs that most elements stay as they are is no sum along a dimension, however
  /// long: an elementwise operation.
  Status count_terms(std::size_t shape) {
    constexpr double kFewInputs = 10;
    const double most_unmoved = std::pow(1 - 1.0 / static_cast<double>(kOneOf), kFewInputs);
    const double most = terms(shape);
    std::vector<double>& counts = terms_.emplace_back(task.tensors.size(), std::min(most, kFewInputs));
    if (most <= kFewInputs) return {};
    for (const Range& range : kProbes) {
      if (auto s = oracle.answer(shape, draw_evenly_as_declared(shape, range),
                                 {Change::none, Change::perturb_a_few});
          !s)
        return s;
      for (std::size_t t = 0; t < counts.size(); ++t) {
        if (!judges(t)) continue;
        const double same = oracle.long_double() ? unmoved<long double>(shape, t) : unmoved<double>(shape, t);
        if (same <= most_unmoved) counts[t] = most;
      }
    }
    return {};
  }

  /// The last variants of the answer are those of which a few pairs are halved.
  template <class Real>
  void add_cost_of_halving(std::size_t shape, std::size_t tensor, CostOfHalving& cost) const {
    auto first = oracle.answers<Real>(shape, tensor, kAllVariants);
    const std::vector<const std::byte*> halves(first.of.end() - kHalves, first.of.end());
    first.of.resize(first.of.size() - kHalves);
    cost.add(first, halves, scale, shapes[shape].extents[tensor].elements);
  }

  /// What it costs each output.
  Result<std::vector<HalfCost>> costs_of_halving(std::size_t shape, Range range) {
    constexpr std::size_t kEnough = 8;
    auto changes = first_changes(task, kAllVariants);
    std::fill(changes.end() - kHalves, changes.end(), Change::halve_a_few);
    std::vector<CostOfHalving> costs(task.tensors.size());
    // Of an output of one element a single try says little.
    for (std::size_t answered = 0; answered < kEnough; answered += kHalves) {
      if (auto s = oracle.answer(shape, draw_evenly_as_declared(shape, range), changes); !s) return s.error();
      bool enough = true;
      for (std::size_t t = 0; t < costs.size(); ++t) {
        if (!judges(t)) continue;
        oracle.long_double() ? add_cost_of_halving<long double>(shape, t, costs[t])
                             : add_cost_of_halving<double>(shape, t, costs[t]);
        enough = enough && costs[t].samples() >= kEnough;
      }
      if (enough) break;
    }
    std::vector<HalfCost> found;
    for (const CostOfHalving& cost : costs) found.push_back(cost.cost());
    return found;
  }

  /// The most that it costs. Of shorter sums no budget goes beyond what halving leaves them in any case.
  Status learn_what_half_costs(std::size_t shape) {
    constexpr double kHardlyAnything = kLeastElement * 0x1p-24;
    std::vector<double>& half = half_.emplace_back(task.tensors.size(), 0.0);
    if (std::ranges::max(terms_[shape]) <= kLeastElement) return {};
    for (std::size_t probe = 0; probe < std::size(kProbes); ++probe) {
      const auto flat = [&](std::size_t t) { return judges(t) && half[t] < kHardlyAnything; };
      std::vector<std::size_t> wanted;
      for (std::size_t t = 0; t < half.size(); ++t)
        if (probe < kUsualProbes || flat(t)) wanted.push_back(t);
      if (wanted.empty()) break;
      const auto costs = costs_of_halving(shape, kProbes[probe]);
      if (!costs) return costs.error();
      if (auto s = refuse_hidden_sums(shape, *costs); !s) return s;
      for (const std::size_t t : wanted) half[t] = std::max(half[t], (*costs)[t].over_scale);
    }
    return {};
  }

  /// Where next to nothing tells whether a sum was added up, a kernel is faster that does not.
  Status refuse_hidden_sums(std::size_t shape, const std::vector<HalfCost>& costs) const {
    if (scale != Scale::sensitivity || !shapes[shape].timed) return {};
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const TensorSpec& tensor = task.tensors[t];
      if (!judges(t) || !costs[t].is_hidden(unit_roundoff(tensor.dtype))) continue;
      return fail(
          ErrorCode::refused,
          "output '" + tensor.name + "' at " + shapes[shape].name +
              " hides the sums that it is made of: rounding its inputs can change it more than leaving "
              "out many of their terms does",
          "files: reference",
          "it has a pole or many jumps, or a steep function of one input is a factor of it: give the sum an "
          "output of its own, keep the inputs away from the pole, or use f64");
    }
    return {};
  }

  /// Whether one of the outputs is found to be wrong that `bytes_of` makes of the answer by tensor.
  bool tells(const std::vector<Expected>& expected,
             const std::function<Bytes(std::size_t tensor)>& bytes_of) const {
    constexpr std::uint32_t kNoPoison = 0x7ff00000U;
    for (std::size_t t = 0; t < expected.size(); ++t)
      if (judges(t) && check_output(expected[t], bytes_of(t), kNoPoison).fault != Fault::none) return true;
    return false;
  }

  /// Tries one set of every shape: all must look like sums for the cheaper scale. Of both signs, because
  /// anything equals its answer to the absolute inputs where these are the inputs; and wide, so that what is
  /// linear about zero only is seen.
  Status choose_scale() {
    constexpr double kWide = 16;
    scale = Scale::absolute;
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
      if (scale == Scale::absolute) {
        const auto inputs = draw_evenly(shape, {-kWide, kWide});
        if (auto s = oracle.answer(shape, inputs, first_changes(task, kAllVariants)); !s) return s;
        if (!(oracle.long_double() ? sums<long double>(shape) : sums<double>(shape)))
          scale = Scale::sensitivity;
      }
      if (auto s = count_terms(shape); !s) return s;
    }
    for (std::size_t shape = 0; shape < shapes.size(); ++shape)
      if (auto s = learn_what_half_costs(shape); !s) return s;
    return {};
  }
};

Truth::Truth(std::unique_ptr<State> state) : state_(std::move(state)) {}
Truth::~Truth() = default;
Truth::Truth(Truth&&) noexcept = default;

Result<Truth> Truth::create(const Task& task, const std::vector<TaskShape>& shapes, const CpuBinary& oracle,
                            const RunnerSettings& settings) {
  auto process = Oracle::create(task, shapes, oracle, settings);
  if (!process) return process.error();
  auto state = std::make_unique<State>(State{task, shapes, std::move(*process)});
  if (state->oracle.promoted())
    if (auto s = state->choose_scale(); !s) return s.error();
  return Truth(std::move(state));
}

Result<Truth> Truth::another(const CpuBinary& oracle, RunnerSettings settings) const {
  settings.core.reset();
  auto process = Oracle::create(state_->task, state_->shapes, oracle, settings);
  if (!process) return process.error();
  auto state = std::make_unique<State>(State{state_->task, state_->shapes, std::move(*process)});
  state->scale = state_->scale;
  state->terms_ = state_->terms_;
  state->half_ = state_->half_;
  return Truth(std::move(state));
}

Result<std::vector<Expected>> Truth::expect(std::size_t shape, const std::vector<Bytes>& inputs,
                                            const std::vector<Bytes>& without_specials) {
  State& state = *state_;
  std::vector<Bytes> plain(state.task.tensors.size());
  if (state.oracle.promoted() && !without_specials.empty()) {
    if (auto s = state.oracle.answer(shape, without_specials, {Change::none}); !s) return s.error();
    plain = state.oracle.plain_answers(shape);
  }
  if (auto s = state.oracle.answer(shape, inputs, first_changes(state.task, state.variants(shape))); !s)
    return s.error();
  std::vector<Expected> expected(state.task.tensors.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const TensorSpec& tensor = state.task.tensors[t];
    if (tensor.role == TensorRole::in) continue;
    if (state.oracle.promoted() && is_real(tensor.dtype)) {
      expected[t] = state.oracle.long_double() ? state.expected<long double>(shape, t, plain[t])
                                               : state.expected<double>(shape, t, plain[t]);
      continue;
    }
    expected[t].dtype = tensor.dtype;
    expected[t].exact = true;
    expected[t].values = state.oracle.plain_answer(shape, t);
  }
  return expected;
}

Result<bool> Truth::tells_lower_precision(std::size_t shape) {
  State& state = *state_;
  const auto inputs = state.draw_inputs(shape);
  const auto expected = expect(shape, inputs);
  if (!expected) return expected.error();
  if (auto s = state.oracle.answer(shape, inputs, {Change::lower}); !s) return s.error();
  const bool differ = state.rounding_changes(inputs);
  return state.tells(*expected, [&](std::size_t t) {
    return state.oracle.long_double() ? state.lowered<long double>(shape, t, differ)
                                      : state.lowered<double>(shape, t, differ);
  });
}

Result<std::vector<Truth::Half>> Truth::tell_halves(std::size_t shape) {
  State& state = *state_;
  const auto inputs = state.draw_inputs(shape);
  const auto expected = expect(shape, inputs);
  if (!expected) return expected.error();
  const std::vector<Bytes> plain = state.oracle.plain_answers(shape);
  std::vector<Half> halves(inputs.size(), Half::unused);
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    auto changed = inputs;
    changed[t] = halved(inputs[t], state.oracle.inputs().draw_choice());
    if (changed[t] == inputs[t]) continue;
    if (auto s = state.oracle.answer(shape, changed, {Change::none}); !s) return s.error();
    if (state.oracle.plain_answers(shape) == plain) continue;
    const bool told = state.tells(*expected, [&](std::size_t out) {
      return state.oracle.long_double() ? state.lowered<long double>(shape, out, true)
                                        : state.lowered<double>(shape, out, true);
    });
    halves[t] = told ? Half::told : Half::not_told;
  }
  return halves;
}

}  // namespace kernelsmith
