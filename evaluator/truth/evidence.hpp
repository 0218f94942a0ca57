// The wide oracle's results about a call's outputs, element by element.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

#include "truth/budget.hpp"
#include "truth/elements.hpp"
#include "truth/questions.hpp"

namespace kernelsmith::truth {

/// The results of a wide oracle, computing with Reals, for one output.
template <class Real>
struct Evidence {
  std::vector<Real> truth;       ///< y*
  std::vector<double> absolute;  ///< the answer to the inputs' absolute values; empty: not computed
  std::vector<double> squares;   ///< sum of the squares of (change by perturbed inputs / step)
  std::size_t perturbations = 0;
  Bytes integers;          ///< the answer for an output of integers, for which all else is empty
  double tried_error = 0;  ///< the reference's largest error on perturbed inputs; 0: not tried

  void set_truth(const std::byte* answer, std::size_t elements) {
    truth.resize(elements);
    std::memcpy(truth.data(), answer, elements * sizeof(Real));
    squares.assign(elements, 0.0);
  }
  void set_absolute(const std::byte* answer) {
    absolute.resize(truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i)
      absolute[i] = std::fabs(static_cast<double>(load<Real>(answer, i)));
  }
  /// If special values make an answer infinite, the other answers are used.
  void add_perturbed(const std::byte* answer, double step) {
    ++perturbations;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const double change = static_cast<double>(load<Real>(answer, i) - truth[i]) / step;
      if (const double square = change * change; std::isfinite(square)) squares[i] += square;
    }
  }

  double magnitude(std::size_t i) const { return std::fabs(static_cast<double>(truth[i])); }
  /// D: the sensitivity to relative perturbations of all inputs.
  double sensitivity(std::size_t i) const {
    return perturbations == 0 ? 0 : std::sqrt(squares[i] / static_cast<double>(perturbations));
  }
  double reach(std::size_t i) const { return magnitude(i) + sensitivity(i); }
  /// S, the scale, of an element whose truth is stored with this magnitude.
  double scale(Scale how, std::size_t i, double stored) const {
    if (how != Scale::absolute) return stored + sensitivity(i);
    return std::isfinite(absolute[i]) ? std::max(absolute[i], stored) : stored;
  }
};

/// The results to compute besides the truth.
struct Wanted {
  bool absolute = false;
  std::size_t perturbations = 0;
};

/// The evidence by tensor. `oracle` computes with Reals. Errors: the oracle's.
template <class Real>
Result<std::vector<Evidence<Real>>> gather(const Task& task, const std::vector<TaskShape>& shapes,
                                           Oracle& oracle, std::size_t shape, const Inputs& inputs,
                                           const Wanted& wanted, SecretStream& random) {
  std::vector<Evidence<Real>> evidence(task.tensors.size());
  const auto ask_for = [&](const Change& change, const auto& take) -> Status {
    if (auto s = ask(task, oracle, shape, inputs, change, random); !s) return s;
    for (std::size_t t = 0; t < evidence.size(); ++t)
      if (task.tensors[t].role != TensorRole::in) take(evidence[t], t, oracle.output(shape, t));
    return {};
  };
  using Answer = std::span<const std::byte>;
  auto s = ask_for({}, [&](Evidence<Real>& of, std::size_t t, Answer answer) {
    if (has_budget(task.tensors[t]))
      of.set_truth(answer.data(), shapes[shape].extents[t].elements);
    else
      of.integers.assign(answer.begin(), answer.end());
  });
  if (s && wanted.absolute)
    s = ask_for({Change::absolute, 0}, [&](Evidence<Real>& of, std::size_t t, Answer answer) {
      if (has_budget(task.tensors[t])) of.set_absolute(answer.data());
    });
  const double step = step_for_sensitivity(task);
  for (std::size_t i = 0; s && i < wanted.perturbations; ++i)
    s = ask_for({Change::perturb, step}, [&](Evidence<Real>& of, std::size_t t, Answer answer) {
      if (has_budget(task.tensors[t])) of.add_perturbed(answer.data(), step);
    });
  if (!s) return s.error();
  return evidence;
}

}  // namespace kernelsmith::truth
