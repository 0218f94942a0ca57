// Truth: derives the expected value and tolerance of each element of an output from the oracles' answers.
#pragma once

#include <cstddef>
#include <vector>

#include <kernelsmith/evaluator/input_set.hpp>
#include <kernelsmith/evaluator/oracle.hpp>

#include "truth/evidence.hpp"
#include "truth/probe.hpp"

namespace kernelsmith::truth {

/// The oracles and the known properties of the task's function. Not thread-safe; `task` and `shapes` must
/// outlive it.
class Truth {
 public:
  /// Probes the task's function. Errors: the oracles'; bad_input for `declared: accumulate`.
  static Result<Truth> create(const Task& task, const std::vector<TaskShape>& shapes,
                              const OracleFactory& oracles, const std::stop_token& stop = {});

  /// A copy with the same knowledge and its own oracles, for another thread.
  Result<Truth> another(const OracleFactory& oracles, const std::stop_token& stop = {}) const;

  /// Draws the inputs of a recipe and computes the expected outputs.
  Result<InputSet> make_set(std::size_t shape, const InputRecipe& recipe);

  /// The expected outputs for these inputs, by tensor. `random` is for the oracle's other queries.
  Result<std::vector<Expected>> expect(std::size_t shape, const Inputs& inputs, SecretStream& random);

  /// The time that oracles and generator took so far outside of this thread.
  double elsewhere_us() const;

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
