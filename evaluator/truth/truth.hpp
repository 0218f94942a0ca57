// Truth: runs the oracle and derives from it each element's budget.
#pragma once

#include <memory>

#include "bank.hpp"

namespace kernelsmith {

/// The oracle, loaded, with the decision how budgets are scaled in this task. Not thread-safe.
class Truth {
 public:
  static Result<Truth> create(const Task& task, const std::vector<TaskShape>& shapes, const CpuBinary& oracle,
                              const RunnerSettings& settings);
  /// The same once more, in a process of its own that may run on any core.
  Result<Truth> another(const CpuBinary& oracle, RunnerSettings settings) const;
  ~Truth();
  Truth(Truth&&) noexcept;

  /// What must come of these inputs, in the order of the tensors. `without_specials`: the same without the
  /// special values that they hold; empty where they hold none.
  Result<std::vector<Expected>> expect(std::size_t shape, const std::vector<Bytes>& inputs,
                                       const std::vector<Bytes>& without_specials = {});

  /// Draws a set and says whether what comes of its inputs rounded one precision lower is found to be wrong.
  Result<bool> tells_lower_precision(std::size_t shape);

  /// What becomes of an output if half of a tensor's cache lines are copies of the others.
  enum class Half {
    unused,    ///< nothing: the tensor is no input, or too small, or no output depends on those lines
    told,      ///< it is found to be wrong
    not_told,  ///< it changes, and passes
  };
  /// Draws a set and tries it with each tensor; by tensor.
  Result<std::vector<Half>> tell_halves(std::size_t shape);

 private:
  struct State;
  explicit Truth(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelsmith
