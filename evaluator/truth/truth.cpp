#include "truth/truth.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "truth/expectation.hpp"
#include "truth/steps.hpp"

namespace kernelsmith::truth {
namespace {

/// How many perturbed answers give each element's sensitivity. It is rare that all of them change little by
/// chance, and if they do, the reference's own error compensates.
constexpr std::size_t kPerturbations = 4;
/// With this many outputs or more, one perturbed answer is enough: the sensitivity then matters only in the
/// mean, and one set of inputs shows the reference's error.
constexpr std::size_t kEnoughElements = 64;
/// How many perturbed answers find the integers that may be off by one, and how large the perturbation is: a
/// few hundred roundoffs of f32, which finds every integer that a few roundoffs can change.
constexpr std::size_t kStepSamples = 8;
constexpr double kStepPerturbation = 0x1p-16;
/// Additional inputs for the reference's error if there are few outputs.
constexpr std::size_t kTries = 4;

bool is_integer_output(const TensorSpec& tensor) {
  return tensor.role != TensorRole::in && !has_budget(tensor);
}

}  // namespace

Result<Truth> Truth::create(const Task& task, const std::vector<TaskShape>& shapes,
                            const OracleFactory& oracles, const std::stop_token& stop) {
  auto made = oracles(stop);
  if (!made) return made.error();
  Truth truth(task, shapes, std::move(*made));
  if (!truth.oracles_.wide) return truth;
  auto nature = probe(task, shapes, truth.oracles_);
  if (!nature) return nature.error();
  truth.nature_ = std::move(*nature);
  return truth;
}

Result<Truth> Truth::another(const OracleFactory& oracles, const std::stop_token& stop) const {
  auto made = oracles(stop);
  if (!made) return made.error();
  Truth truth(*task_, *shapes_, std::move(*made));
  truth.nature_ = nature_;
  return truth;
}

double Truth::elsewhere_us() const {
  return oracles_.declared->elsewhere_us() + (oracles_.wide ? oracles_.wide->elsewhere_us() : 0) +
         (oracles_.generator ? oracles_.generator->elsewhere_us() : 0);
}

Result<InputSet> Truth::make_set(std::size_t shape, const InputRecipe& recipe) {
  InputSet set;
  set.recipe = recipe;
  auto inputs = draw_inputs(*task_, *shapes_, shape, recipe, oracles_.generator.get());
  if (!inputs) return inputs.error();
  set.inputs = std::move(*inputs);
  // A stream that draw_inputs() has not used.
  SecretStream random({recipe.key[0], ~recipe.key[1]});
  auto outputs = expect(shape, set.inputs, random);
  if (!outputs) return outputs.error();
  set.outputs = std::move(*outputs);
  return set;
}

Result<std::vector<Expected>> Truth::expect(std::size_t shape, const Inputs& inputs, SecretStream& random) {
  if (!oracles_.wide) return expect_exact(shape, inputs, random);
  return oracles_.wide->precision() == OraclePrecision::long_double
             ? expect_as<long double>(shape, inputs, random)
             : expect_as<double>(shape, inputs, random);
}

/// The unchanged reference's answer, bit for bit.
Result<std::vector<Expected>> Truth::expect_exact(std::size_t shape, const Inputs& inputs,
                                                  SecretStream& random) {
  if (auto s = ask(*task_, *oracles_.declared, shape, inputs, {}, random); !s) return s.error();
  std::vector<Expected> expected(inputs.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    if (task_->tensors[t].role == TensorRole::in) continue;
    const auto answer = oracles_.declared->output(shape, t);
    expected[t].dtype = task_->tensors[t].dtype;
    expected[t].exact = true;
    expected[t].values.assign(answer.begin(), answer.end());
  }
  return expected;
}

Wanted Truth::wanted(std::size_t shape) const {
  if (task_->tolerance.policy == "allclose") return {};
  if (nature_.scale == Scale::sensitivity) return {false, kPerturbations};
  std::size_t fewest = kEnoughElements;
  for (std::size_t t = 0; t < task_->tensors.size(); ++t)
    if (has_budget(task_->tensors[t])) fewest = std::min(fewest, extent(shape, t).elements);
  return {true, std::min(kPerturbations, kEnoughElements / fewest)};
}

template <class Real>
Result<std::vector<Expected>> Truth::expect_as(std::size_t shape, const Inputs& inputs,
                                               SecretStream& random) {
  auto evidence = gather<Real>(*task_, *shapes_, *oracles_.wide, shape, inputs, wanted(shape), random);
  if (!evidence) return evidence.error();
  if (auto s = try_reference(shape, inputs, *evidence, random); !s) return s.error();
  // From here on the oracles are asked about integers only. The last answer is that of the unchanged
  // reference, which is read below.
  std::vector<Expected> expected(inputs.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    if (!is_integer_output(task_->tensors[t])) continue;
    expected[t].dtype = task_->tensors[t].dtype;
    expected[t].exact = true;
    expected[t].values = std::move((*evidence)[t].integers);
  }
  if (auto s = find_steps(shape, inputs, expected, random); !s) return s.error();
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const TensorSpec& tensor = task_->tensors[t];
    if (!has_budget(tensor)) continue;
    const Budget budget = budget_of(*task_, tensor.dtype, nature_.scale, nature_.terms[shape][t]);
    const Rule rule{task_->tolerance, tensor.dtype, nature_.scale, budget, block_of(extent(shape, t))};
    expected[t] = expected_from(rule, (*evidence)[t], oracles_.declared->output(shape, t).data());
  }
  return expected;
}

/// With few outputs the reference can be exact by luck, so it is also tried on perturbed inputs.
template <class Real>
Status Truth::try_reference(std::size_t shape, const Inputs& inputs, std::vector<Evidence<Real>>& evidence,
                            SecretStream& random) {
  const auto is_small = [&](std::size_t t) {
    return has_budget(task_->tensors[t]) && extent(shape, t).elements < kEnoughElements;
  };
  bool any = false;
  for (std::size_t t = 0; t < evidence.size(); ++t) any = any || is_small(t);
  for (std::size_t i = 0; any && i < kTries; ++i) {
    const Inputs changed = perturbed(*task_, inputs, step_for_sensitivity(*task_), random);
    if (auto s = ask(*task_, *oracles_.wide, shape, changed, {}, random); !s) return s;
    if (auto s = ask(*task_, *oracles_.declared, shape, changed, {}, random); !s) return s;
    for (std::size_t t = 0; t < evidence.size(); ++t) {
      if (!is_small(t)) continue;
      const std::byte* const truth = oracles_.wide->output(shape, t).data();
      const std::byte* const reference = oracles_.declared->output(shape, t).data();
      for (std::size_t e = 0; e < extent(shape, t).elements; ++e) {
        const double error = std::fabs(load_element(task_->tensors[t].dtype, reference, e) -
                                       static_cast<double>(load<Real>(truth, e)));
        if (std::isfinite(error)) evidence[t].tried_error = std::max(evidence[t].tried_error, error);
      }
    }
  }
  return {};
}

/// Runs the reference in its own precision last, so that its answer stays. If integers are made from reals,
/// first finds which of them may step.
Status Truth::find_steps(std::size_t shape, const Inputs& inputs, std::vector<Expected>& expected,
                         SecretStream& random) {
  const auto mark = [&](Oracle& oracle) {
    for (std::size_t t = 0; t < expected.size(); ++t)
      if (is_integer_output(task_->tensors[t])) mark_steps(oracle.output(shape, t), expected[t]);
  };
  const bool from_reals = std::ranges::any_of(task_->tensors, is_perturbed);
  if (from_reals && std::ranges::any_of(task_->tensors, is_integer_output)) {
    for (std::size_t i = 0; i < kStepSamples; ++i) {
      const Change change{Change::perturb, kStepPerturbation};
      if (auto s = ask(*task_, *oracles_.wide, shape, inputs, change, random); !s) return s;
      mark(*oracles_.wide);
    }
  }
  if (auto s = ask(*task_, *oracles_.declared, shape, inputs, {}, random); !s) return s;
  if (from_reals) mark(*oracles_.declared);
  for (Expected& output : expected) count_steps(output);
  return {};
}

}  // namespace kernelsmith::truth
