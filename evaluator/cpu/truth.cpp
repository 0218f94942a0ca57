#include "truth.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "budget.hpp"
#include "inputs.hpp"
#include "signature.hpp"

namespace kernelsmith {
namespace {

constexpr double kOracleTimeoutS = 60;
constexpr double kPerturbation = 0x1p-20;
/// Independent perturbations for each element's sensitivity: few enough to be cheap, enough that all of them
/// being tiny by chance does not happen. Four are too few where one score moves a whole row, as in attention:
/// the budget of the row's small elements then falls below an honest kernel's error.
constexpr std::size_t kPerturbations = 8;

/// The variants of the inputs that the oracle sees, each in a slot of its own.
enum Variant : std::size_t { kPlain = 0, kAbsolute = 1, kFirstPerturbed = 2 };

std::size_t variants_of(Scale scale) {
  return scale == Scale::absolute ? 2 : kFirstPerturbed + kPerturbations;
}

template <class Element>
Element load(const std::byte* base, std::size_t i) {
  Element value;
  std::memcpy(&value, base + i * sizeof(Element), sizeof(Element));
  return value;
}

template <class Element>
void store(std::byte* base, std::size_t i, Element value) {
  std::memcpy(base + i * sizeof(Element), &value, sizeof(Element));
}

/// Writes declared reals as truth reals, changed by `change`.
template <class Declared, class Real, class Change>
void promote(const std::vector<std::byte>& from, std::byte* to, const Change& change) {
  const std::size_t count = from.size() / sizeof(Declared);
  for (std::size_t i = 0; i < count; ++i)
    store<Real>(to, i, change(static_cast<Real>(load<Declared>(from.data(), i))));
}

template <class Real, class Change>
void promote(Dtype dtype, const std::vector<std::byte>& from, std::byte* to, const Change& change) {
  if (dtype == Dtype::f64) return promote<double, Real>(from, to, change);
  if (dtype == Dtype::f32) return promote<float, Real>(from, to, change);
  std::memcpy(to, from.data(), from.size());
}

/// The promoted outputs of one tensor, by variant.
template <class Real>
struct Answers {
  std::vector<const std::byte*> of;

  Real plain(std::size_t i) const { return load<Real>(of[kPlain], i); }
  double magnitude(std::size_t i) const { return std::fabs(static_cast<double>(plain(i))); }
  double absolute(std::size_t i) const {
    return std::fabs(static_cast<double>(load<Real>(of[kAbsolute], i)));
  }
  double sensitivity(std::size_t i) const {
    double squares = 0;
    for (std::size_t v = kFirstPerturbed; v < of.size(); ++v) {
      const auto change = static_cast<double>(load<Real>(of[v], i) - plain(i)) / kPerturbation;
      squares += change * change;
    }
    return std::sqrt(squares / static_cast<double>(kPerturbations));
  }
  double scale(Scale how, std::size_t i) const {
    return how == Scale::absolute ? std::max(absolute(i), magnitude(i)) : magnitude(i) + sensitivity(i);
  }
};

/// Sums of products show themselves: the absolute values' answer bounds the answer everywhere, and is no more
/// than cancellation explains nearly everywhere (a sensitivity of four samples is now and then too small).
template <class Real>
bool looks_like_sums(const Answers<Real>& answers, std::size_t elements) {
  constexpr double kSlack = 1 + 1e-9;
  constexpr double kMostCancellation = 64;
  constexpr double kExceptions = 0.02;
  std::size_t exceptions = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const double absolute = answers.absolute(i);
    if (!(answers.magnitude(i) <= absolute * kSlack)) return false;
    if (!(absolute <= kMostCancellation * (answers.sensitivity(i) + answers.magnitude(i)))) ++exceptions;
  }
  return static_cast<double>(exceptions) <= kExceptions * static_cast<double>(elements);
}

/// Expected values and weights in the declared type.
template <class Declared, class Real>
Expected expected_from(const Answers<Real>& answers, Scale scale, std::size_t elements, Dtype dtype,
                       double factor, bool normwise) {
  Expected expected{dtype, false, !normwise, std::vector<std::byte>(elements * sizeof(Declared)),
                    std::vector<std::byte>(elements * sizeof(Declared))};
  double squares = 0;
  if (normwise)
    for (std::size_t i = 0; i < elements; ++i) squares += std::pow(answers.scale(scale, i), 2);
  const double rms = std::sqrt(squares / static_cast<double>(elements));
  // About the smallest normal number kernels may flush to zero or clamp: the error is absolute there.
  constexpr double kTiny = 4 * static_cast<double>(std::numeric_limits<Declared>::min());
  constexpr double kMostWeight = static_cast<double>(std::numeric_limits<Declared>::max()) / 4;
  for (std::size_t i = 0; i < elements; ++i) {
    const Real truth = answers.plain(i);
    const double budget = factor * (normwise ? rms : answers.scale(scale, i)) + kTiny;
    const double weight =
        std::isfinite(truth) && std::isfinite(budget) ? std::min(1 / budget, kMostWeight) : 0;
    store(expected.values.data(), i, static_cast<Declared>(truth));
    store(expected.weights.data(), i, static_cast<Declared>(weight));
  }
  return expected;
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
  SecretStream random{};

  /// Lays out the variants of the inputs and has the oracle answer them.
  Status answer(std::size_t shape, const std::vector<std::vector<std::byte>>& inputs, std::size_t variants) {
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      for (std::size_t v = 0; v < variants; ++v) {
        std::byte* const to = arena.tensor(shape, v, t);
        std::memset(to, 0, arena.tensor_bytes(shape, t));
        if (!inputs[t].empty()) lay_out(task.tensors[t].dtype, inputs[t], to, v);
      }
    arena.set_calls(shape, variants);
    const auto answered = runner.call(variants, kOracleTimeoutS);
    if (!answered) return refused(answered.error());
    return {};
  }

  void lay_out(Dtype dtype, const std::vector<std::byte>& from, std::byte* to, std::size_t variant) {
    if (!promoted || !is_real(dtype)) {
      std::memcpy(to, from.data(), from.size());
    } else if (long_double) {
      lay_out_as<long double>(dtype, from, to, variant);
    } else {
      lay_out_as<double>(dtype, from, to, variant);
    }
  }

  template <class Real>
  void lay_out_as(Dtype dtype, const std::vector<std::byte>& from, std::byte* to, std::size_t variant) {
    if (variant == kPlain) return promote<Real>(dtype, from, to, [](Real x) { return x; });
    if (variant == kAbsolute) return promote<Real>(dtype, from, to, [](Real x) { return std::fabs(x); });
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
  Expected expected(std::size_t shape, std::size_t tensor) const {
    const Dtype dtype = task.tensors[tensor].dtype;
    const std::size_t elements = shapes[shape].extents[tensor].elements;
    const bool normwise = task.tolerance.policy == "normwise";
    const double factor = budget_factor(scale, longest_input(shape)) * unit_roundoff(task, dtype);
    const auto all = answers<Real>(shape, tensor, variants_of(scale));
    return dtype == Dtype::f64 ? expected_from<double>(all, scale, elements, dtype, factor, normwise)
                               : expected_from<float>(all, scale, elements, dtype, factor, normwise);
  }

  std::size_t longest_input(std::size_t shape) const {
    std::int64_t longest = 1;
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (task.tensors[t].role != TensorRole::out)
        for (const std::int64_t dimension : shapes[shape].extents[t].shape)
          longest = std::max(longest, dimension);
    return static_cast<std::size_t>(longest);
  }

  template <class Real>
  bool sums(std::size_t shape) const {
    for (std::size_t t = 0; t < task.tensors.size(); ++t)
      if (task.tensors[t].role != TensorRole::in && is_real(task.tensors[t].dtype) &&
          !looks_like_sums(answers<Real>(shape, t, variants_of(Scale::sensitivity)),
                           shapes[shape].extents[t].elements))
        return false;
    return true;
  }

  /// Tries one set of every shape: all must look like sums for the cheaper scale.
  Status choose_scale() {
    scale = Scale::absolute;
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
      std::vector<std::vector<std::byte>> inputs(task.tensors.size());
      for (std::size_t t = 0; t < task.tensors.size(); ++t)
        if (task.tensors[t].role != TensorRole::out)
          inputs[t] = draw_tensor(task.tensors[t], shapes[shape].extents[t], random);
      if (auto s = answer(shape, inputs, variants_of(Scale::sensitivity)); !s) return s;
      if (!(long_double ? sums<long double>(shape) : sums<double>(shape))) scale = Scale::sensitivity;
    }
    return {};
  }
};

Truth::Truth(std::unique_ptr<State> state) : state_(std::move(state)) {}
Truth::~Truth() = default;
Truth::Truth(Truth&&) noexcept = default;

Result<Truth> Truth::create(const Task& task, const std::vector<TaskShape>& shapes, const CpuBinary& oracle,
                            const RunnerSettings& settings) {
  const bool promoted = needs_truth(task);
  std::vector<TensorRole> roles;
  for (const TensorSpec& tensor : task.tensors) roles.push_back(tensor.role);
  std::vector<ArenaShape> places;
  for (const TaskShape& shape : shapes) {
    ArenaShape& place = places.emplace_back();
    place.sizes = shape.sizes;
    place.slots = promoted ? variants_of(Scale::sensitivity) : 1;
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const Dtype dtype = task.tensors[t].dtype;
      place.tensor_bytes.push_back(shape.extents[t].elements *
                                   (promoted ? promoted_bytes(task, dtype) : bytes_of(dtype)));
    }
  }
  auto arena = Arena::create(roles, std::move(places));
  if (!arena) return arena.error();
  auto runner = RunnerProcess::start(oracle.object(), *arena, settings);
  if (!runner) return refused(runner.error());
  auto state = std::make_unique<State>(State{task, shapes, promoted, truth_type(task) == "long double",
                                             std::move(*arena), std::move(*runner)});
  if (promoted)
    if (auto s = state->choose_scale(); !s) return s.error();
  return Truth(std::move(state));
}

Result<std::vector<Expected>> Truth::expect(std::size_t shape,
                                            const std::vector<std::vector<std::byte>>& inputs) {
  State& state = *state_;
  if (auto s = state.answer(shape, inputs, state.promoted ? variants_of(state.scale) : 1); !s)
    return s.error();
  std::vector<Expected> expected(state.task.tensors.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const TensorSpec& tensor = state.task.tensors[t];
    if (tensor.role == TensorRole::in) continue;
    if (state.promoted && is_real(tensor.dtype)) {
      expected[t] =
          state.long_double ? state.expected<long double>(shape, t) : state.expected<double>(shape, t);
      continue;
    }
    const std::byte* const answer = state.arena.tensor(shape, kPlain, t);
    expected[t] = {tensor.dtype, true, true, {answer, answer + state.arena.tensor_bytes(shape, t)}, {}};
  }
  return expected;
}

}  // namespace kernelsmith
