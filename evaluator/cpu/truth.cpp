#include "truth.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "answers.hpp"
#include "budget.hpp"
#include "expectation.hpp"
#include "halving.hpp"
#include "inputs.hpp"
#include "signature.hpp"

namespace kernelsmith {
namespace {

constexpr double kOracleTimeoutS = 60;

/// What is done to the inputs of a variant, element by element.
enum class Change {
  none,
  absolute,
  perturb,        ///< relatively, all of them
  perturb_a_few,  ///< one in kOneOf
  lower,          ///< rounded one precision lower
  halve,          ///< as halved() has them
};
constexpr std::uint64_t kOneOf = 64;
constexpr double kAFewPerturbation = 0x1p-10;

std::vector<Change> first_changes(std::size_t variants) {
  std::vector<Change> changes(variants, Change::perturb);
  changes[kPlain] = Change::none;
  if (variants > kAbsolute) changes[kAbsolute] = Change::absolute;
  return changes;
}

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

Error refused(const Failure& failure) {
  if (const Error* error = std::get_if<Error>(&failure)) return *error;
  const Rejection& rejection = std::get<Rejection>(failure);
  return fail(ErrorCode::refused, "the task's reference fails: " + rejection.diagnostics, "files: reference");
}

}  // namespace

struct Truth::State {
  const Task& task;
  const std::vector<TaskShape>& shapes;
  bool promoted;
  bool long_double;
  Arena arena;
  RunnerProcess runner;
  Scale scale = Scale::sensitivity;
  std::vector<double> terms_{};  ///< by shape: what an output may be the sum of
  std::vector<double> half_{};   ///< by shape: what leaving out half of a long sum costs, over its scale
  SecretStream random{};

  /// Lays out the variants of the inputs and has the oracle answer them.
  Status answer(std::size_t shape, const std::vector<Bytes>& inputs, const std::vector<Change>& changes) {
    for (std::size_t v = 0; v < changes.size(); ++v) {
      const std::uint64_t choice = changes[v] == Change::halve ? random.word() : 0;
      for (std::size_t t = 0; t < task.tensors.size(); ++t) {
        std::byte* const to = arena.tensor(shape, v, t);
        std::memset(to, 0, arena.tensor_bytes(shape, t));
        if (inputs[t].empty()) continue;
        const Dtype dtype = task.tensors[t].dtype;
        if (changes[v] == Change::halve)
          lay_out(dtype, halved(inputs[t], choice), to, Change::none);
        else
          lay_out(dtype, inputs[t], to, changes[v]);
      }
    }
    arena.set_calls(shape, changes.size());
    const auto answered = runner.call(0, changes.size(), kOracleTimeoutS);
    if (!answered) return refused(answered.error());
    return {};
  }

  void lay_out(Dtype dtype, const Bytes& from, std::byte* to, Change change) {
    if (!promoted || !is_real(dtype)) {
      std::memcpy(to, from.data(), from.size());
    } else if (long_double) {
      lay_out_as<long double>(dtype, from, to, change);
    } else {
      lay_out_as<double>(dtype, from, to, change);
    }
  }

  template <class Real>
  void lay_out_as(Dtype dtype, const Bytes& from, std::byte* to, Change change) {
    if (change == Change::none) return promote<Real>(dtype, from, to, [](Real x) { return x; });
    if (change == Change::absolute)
      return promote<Real>(dtype, from, to, [](Real x) { return std::fabs(x); });
    if (change == Change::lower)
      return promote<Real>(dtype, from, to,
                           [bits = lower_precision(task, dtype).bits](Real x) { return rounded(x, bits); });
    if (change == Change::perturb_a_few)
      return promote<Real>(dtype, from, to, [this](Real x) {
        return random.below(kOneOf) == 0 ? x * static_cast<Real>(1 + kAFewPerturbation) : x;
      });
    // Uniform with unit variance, not signs: those cancel exactly where two inputs weigh the same.
    std::uint64_t bits = 0;
    unsigned left = 0;
    promote<Real>(dtype, from, to, [&](Real x) {
      if (left == 0) {
        bits = random.word();
        left = 4;
      }
      const auto sixteen = static_cast<double>(bits >> (--left * 16) & 0xffffU);
      const double unit = (sixteen - 32767.5) / 32768 * std::numbers::sqrt3;
      return x * static_cast<Real>(1 + unit * kPerturbation);
    });
  }

  template <class Real>
  Answers<Real> answers(std::size_t shape, std::size_t tensor, std::size_t variants) const {
    Answers<Real> answers;
    for (std::size_t v = 0; v < variants; ++v) answers.of.push_back(arena.tensor(shape, v, tensor));
    return answers;
  }

  template <class Real>
  Expected expected(std::size_t shape, std::size_t tensor, bool with_specials) const {
    const Dtype dtype = task.tensors[tensor].dtype;
    const std::size_t elements = shapes[shape].extents[tensor].elements;
    const bool normwise = task.tolerance.policy == "normwise";
    const Budget budget = budget_of(task, dtype, scale, terms_[shape], half_[shape], with_specials);
    const auto all = answers<Real>(shape, tensor, variants(shape));
    if (dtype == Dtype::f64)
      return expected_from<double, double>(all, scale, elements, dtype, budget, normwise);
    return budget.tiny < static_cast<double>(std::numeric_limits<float>::min())
               ? expected_from<float, double>(all, scale, elements, dtype, budget, normwise)
               : expected_from<float, float>(all, scale, elements, dtype, budget, normwise);
  }

  /// The plain answer, and what the budget needs beside it: D as an average over the elements needs one
  /// perturbation of many elements, or several of few.
  std::size_t variants(std::size_t shape) const {
    if (!promoted) return 1;
    if (scale == Scale::sensitivity) return kAllVariants;
    constexpr std::size_t kEnough = 64;
    std::size_t fewest = kEnough;
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (task.tensors[t].role != TensorRole::in && is_real(task.tensors[t].dtype))
        fewest = std::min(fewest, shapes[shape].extents[t].elements);
    return kFirstPerturbed + std::min((kEnough + fewest - 1) / fewest, kPerturbations);
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
      if (task.tensors[t].role != TensorRole::in && is_real(task.tensors[t].dtype) &&
          !looks_like_sums(answers<Real>(shape, t, kAllVariants), shapes[shape].extents[t].elements))
        return false;
    return true;
  }

  std::vector<Bytes> draw_inputs(std::size_t shape) {
    std::vector<Bytes> inputs(task.tensors.size());
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (task.tensors[t].role != TensorRole::out)
        inputs[t] = draw_tensor(task.tensors[t], shapes[shape].extents[t], false, random);
    return inputs;
  }

  /// Reals between two numbers, in the place of the mixture that a kernel is shown: whether a function looks
  /// like sums, and how much it depends on, must not hang on which kinds of inputs were drawn.
  std::vector<Bytes> draw_evenly(std::size_t shape, double from, double to) {
    auto inputs = draw_inputs(shape);
    const auto fill = [&]<class Real>(Bytes& bytes, Real) {
      for (std::size_t i = 0; i < bytes.size() / sizeof(Real); ++i) {
        const double unit = static_cast<double>(random.word() >> 11U) * 0x1p-53;
        store(bytes.data(), i, static_cast<Real>(from + unit * (to - from)));
      }
    };
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      if (task.tensors[t].dtype == Dtype::f32) fill(inputs[t], float{});
      if (task.tensors[t].dtype == Dtype::f64) fill(inputs[t], double{});
    }
    return inputs;
  }

  /// What a kernel writes that computes exactly with rounded inputs; where these are exact in the lower
  /// precision already, one that rounds its outputs.
  template <class Real>
  Bytes lowered(std::size_t shape, std::size_t tensor, bool inputs_differ) const {
    const Dtype dtype = task.tensors[tensor].dtype;
    const std::size_t elements = shapes[shape].extents[tensor].elements;
    const int bits = inputs_differ ? std::numeric_limits<Real>::digits : lower_precision(task, dtype).bits;
    Bytes bytes(elements * bytes_of(dtype));
    for (std::size_t i = 0; i < elements; ++i) {
      const Real value = rounded(load<Real>(arena.tensor(shape, kPlain, tensor), i), bits);
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

  /// The share of the outputs that do not change with a few of the inputs.
  template <class Real>
  double unmoved(std::size_t shape) const {
    std::size_t same = 0, all = 0;
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      if (task.tensors[t].role == TensorRole::in || !is_real(task.tensors[t].dtype)) continue;
      const Answers<Real> both = answers<Real>(shape, t, 2);
      for (std::size_t i = 0; i < shapes[shape].extents[t].elements; ++i)
        same += both.plain(i) == load<Real>(both.of[1], i) ? 1U : 0U;
      all += shapes[shape].extents[t].elements;
    }
    return static_cast<double>(same) / static_cast<double>(std::max<std::size_t>(all, 1));
  }

  /// An output of so few inputs that most stay as they are is no sum along a dimension, however long: an
  /// elementwise operation.
  Status count_terms(std::size_t shape, const std::vector<Bytes>& inputs) {
    constexpr double kFewInputs = 10;
    const double most_unmoved = std::pow(1 - 1.0 / static_cast<double>(kOneOf), kFewInputs);
    double& count = terms_.emplace_back(terms(shape));
    if (count <= kFewInputs) return {};
    if (auto s = answer(shape, inputs, {Change::none, Change::perturb_a_few}); !s) return s;
    const double same = long_double ? unmoved<long double>(shape) : unmoved<double>(shape);
    if (same > most_unmoved) count = kFewInputs;
    return {};
  }

  template <class Real>
  double cost_of_halving(std::size_t shape) const {
    CostOfHalving cost;
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (task.tensors[t].role != TensorRole::in && is_real(task.tensors[t].dtype))
        cost.add(answers<Real>(shape, t, kAllVariants), scale, shapes[shape].extents[t].elements);
    return cost.over_scale();
  }

  Status learn_what_half_costs(std::size_t shape, const std::vector<Bytes>& inputs) {
    double& cost = half_.emplace_back(std::numeric_limits<double>::infinity());
    if (terms_[shape] <= kLongSum) return {};
    std::vector<Change> changes(kAllVariants, Change::halve);
    changes[kPlain] = Change::none;
    changes[kAbsolute] = Change::absolute;
    if (auto s = answer(shape, inputs, changes); !s) return s;
    cost = long_double ? cost_of_halving<long double>(shape) : cost_of_halving<double>(shape);
    return {};
  }

  /// Tries one set of every shape: all must look like sums for the cheaper scale. Of both signs, because
  /// anything equals its answer to the absolute inputs where these are the inputs; and wide, so that what is
  /// linear about zero only is seen.
  Status choose_scale() {
    constexpr double kWide = 16;
    scale = Scale::absolute;
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
      if (scale == Scale::absolute) {
        const auto inputs = draw_evenly(shape, -kWide, kWide);
        if (auto s = answer(shape, inputs, first_changes(kAllVariants)); !s) return s;
        if (!(long_double ? sums<long double>(shape) : sums<double>(shape))) scale = Scale::sensitivity;
      }
      if (auto s = count_terms(shape, draw_evenly(shape, 0.5, 1.5)); !s) return s;
    }
    for (std::size_t shape = 0; shape < shapes.size(); ++shape)
      if (auto s = learn_what_half_costs(shape, draw_evenly(shape, 0.5, 1.5)); !s) return s;
    return {};
  }
};

Truth::Truth(std::unique_ptr<State> state) : state_(std::move(state)) {}
Truth::~Truth() = default;
Truth::Truth(Truth&&) noexcept = default;

Result<Truth> Truth::create(const Task& task, const std::vector<TaskShape>& shapes, const CpuBinary& oracle,
                            const RunnerSettings& settings) {
  auto state = start(task, shapes, oracle, settings);
  if (!state) return state.error();
  if ((*state)->promoted)
    if (auto s = (*state)->choose_scale(); !s) return s.error();
  return Truth(std::move(*state));
}

Result<Truth> Truth::another(const CpuBinary& oracle, RunnerSettings settings) const {
  settings.core.reset();
  auto state = start(state_->task, state_->shapes, oracle, settings);
  if (!state) return state.error();
  (*state)->scale = state_->scale;
  (*state)->terms_ = state_->terms_;
  (*state)->half_ = state_->half_;
  return Truth(std::move(*state));
}

Result<std::unique_ptr<Truth::State>> Truth::start(const Task& task, const std::vector<TaskShape>& shapes,
                                                   const CpuBinary& oracle, const RunnerSettings& settings) {
  const bool promoted = needs_truth(task);
  std::vector<TensorRole> roles;
  for (const TensorSpec& tensor : task.tensors) roles.push_back(tensor.role);
  std::vector<ArenaShape> places;
  for (const TaskShape& shape : shapes) {
    ArenaShape& place = places.emplace_back();
    place.sizes = shape.sizes;
    place.slots = promoted ? kAllVariants : 1;
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const Dtype dtype = task.tensors[t].dtype;
      place.tensor_bytes.push_back(shape.extents[t].elements *
                                   (promoted ? promoted_bytes(task, dtype) : bytes_of(dtype)));
    }
  }
  auto arena = Arena::create(roles, std::move(places));
  if (!arena) return arena.error();
  auto runner = RunnerProcess::start(*arena, settings);
  if (!runner) return runner.error();
  if (auto loaded = runner->load(oracle.object()); !loaded) return refused(loaded.error());
  return std::make_unique<State>(State{task, shapes, promoted, truth_type(task) == "long double",
                                       std::move(*arena), std::move(*runner)});
}

Result<std::vector<Expected>> Truth::expect(std::size_t shape, const std::vector<Bytes>& inputs,
                                            bool with_specials) {
  State& state = *state_;
  if (auto s = state.answer(shape, inputs, first_changes(state.variants(shape))); !s) return s.error();
  std::vector<Expected> expected(state.task.tensors.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const TensorSpec& tensor = state.task.tensors[t];
    if (tensor.role == TensorRole::in) continue;
    if (state.promoted && is_real(tensor.dtype)) {
      expected[t] = state.long_double ? state.expected<long double>(shape, t, with_specials)
                                      : state.expected<double>(shape, t, with_specials);
      continue;
    }
    const std::byte* const answer = state.arena.tensor(shape, kPlain, t);
    expected[t].dtype = tensor.dtype;
    expected[t].exact = true;
    expected[t].values.assign(answer, answer + state.arena.tensor_bytes(shape, t));
  }
  return expected;
}

Result<bool> Truth::tells_lower_precision(std::size_t shape) {
  constexpr std::uint32_t kNoPoison = 0x7fa00000U;
  State& state = *state_;
  const auto inputs = state.draw_inputs(shape);
  const auto expected = expect(shape, inputs, false);
  if (!expected) return expected.error();
  if (auto s = state.answer(shape, inputs, {Change::lower}); !s) return s.error();
  const bool differ = state.rounding_changes(inputs);
  for (std::size_t t = 0; t < expected->size(); ++t) {
    const TensorSpec& tensor = state.task.tensors[t];
    if (tensor.role == TensorRole::in || !is_real(tensor.dtype)) continue;
    const auto bytes = state.long_double ? state.lowered<long double>(shape, t, differ)
                                         : state.lowered<double>(shape, t, differ);
    if (check_output((*expected)[t], bytes, kNoPoison).fault != Fault::none) return true;
  }
  return false;
}

}  // namespace kernelsmith
