// The oracle in a process of its own: what it answers to a set of inputs and to variants of them.
#pragma once

#include <cstddef>
#include <vector>

#include "answers.hpp"
#include "arena.hpp"
#include "bank.hpp"
#include "oracle_inputs.hpp"

namespace kernelsmith {

/// Not thread-safe.
class Oracle {
 public:
  /// Errors: refused where it cannot be loaded.
  static Result<Oracle> create(const Task& task, const std::vector<TaskShape>& shapes,
                               const CpuBinary& binary, const RunnerSettings& settings);

  /// Lays out the variants of the inputs, kAllVariants at most, and has them answered. What was answered
  /// before is gone.
  Status answer(std::size_t shape, const std::vector<Bytes>& inputs, const std::vector<Change>& changes);

  /// The first `variants` answers for one tensor; `Real` is the type of the truth.
  template <class Real>
  Answers<Real> answers(std::size_t shape, std::size_t tensor, std::size_t variants) const {
    Answers<Real> answers;
    for (std::size_t v = 0; v < variants; ++v) answers.of.push_back(arena_.tensor(shape, v, tensor));
    answers.per_step = per_step_;
    answers.has_coarse = has_coarse_;
    return answers;
  }

  /// The first variant's, in the type of the truth.
  Bytes plain_answer(std::size_t shape, std::size_t tensor) const;
  /// Of all tensors; empty for inputs.
  std::vector<Bytes> plain_answers(std::size_t shape) const;

  bool promoted() const { return promoted_; }
  bool long_double() const { return long_double_; }
  OracleInputs& inputs() { return inputs_; }

 private:
  Oracle(const Task& task, bool promoted, bool long_double, Arena arena, RunnerProcess runner,
         std::vector<std::string> shape_names);

  const Task* task_;
  bool promoted_, long_double_;
  Arena arena_;
  RunnerProcess runner_;
  OracleInputs inputs_;
  std::vector<std::string> shape_names_;
  /// Of the variants that were answered.
  std::vector<double> per_step_;
  bool has_coarse_ = false;
};

}  // namespace kernelsmith
