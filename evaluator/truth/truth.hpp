// Truth: derives from what the oracles answer what each element of an output must be, and may be off.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/evaluator/input_set.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

#include "truth/evidence.hpp"
#include "truth/probe.hpp"

namespace kernelsmith::truth {

/// Oracles, with what is known of the task's function. Not thread-safe; `task` and `shapes` must outlive it.
class Truth {
 public:
  /// Probes the task's function. Errors: the oracles'; bad_input for `declared: accumulate`.
  static Result<Truth> create(const Task& task, const std::vector<TaskShape>& shapes,
                              const OracleFactory& oracles, const std::stop_token& stop = {});

  /// Another with the same knowledge and oracles of its own, for another thread.
  Result<Truth> another(const OracleFactory& oracles, const std::stop_token& stop = {}) const;

  /// Draws the inputs of a recipe and says what must come of them.
  Result<InputSet> make_set(std::size_t shape, const InputRecipe& recipe);

  /// What must come of these inputs, by tensor. `random` is for what the oracle is asked besides.
  Result<std::vector<Expected>> expect(std::size_t shape, const Inputs& inputs, SecretStream& random);

  Oracles& oracles() { return oracles_; }
  const Nature& nature() const { return nature_; }

 private:
  Truth(const Task& task, const std::vector<TaskShape>& shapes, Oracles oracles)
      : task_(&task), shapes_(&shapes), oracles_(std::move(oracles)) {}

  template <class Real>
  Result<std::vector<Expected>> expect_as(std::size_t shape, const Inputs& inputs, SecretStream& random);
  Result<std::vector<Expected>> expect_exact(std::size_t shape, const Inputs& inputs, SecretStream& random);
  Wanted wanted(std::size_t shape) const;
  Status find_steps(std::size_t shape, const Inputs& inputs, std::vector<Expected>& expected,
                    SecretStream& random);
  template <class Real>
  Status try_reference(std::size_t shape, const Inputs& inputs, std::vector<Evidence<Real>>& evidence,
                       SecretStream& random);
  const TensorExtent& extent(std::size_t shape, std::size_t tensor) const {
    return (*shapes_)[shape].extents[tensor];
  }

  const Task* task_;
  const std::vector<TaskShape>* shapes_;
  Oracles oracles_;
  Nature nature_;
};

}  // namespace kernelsmith::truth
