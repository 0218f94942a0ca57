// The data of one evaluation for all its steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/kernel_host.hpp>

namespace kernelsmith::judge {

/// The time limit of a call.
struct CallLimit {
  double s = 0;
  double yardstick_us = 0;  ///< the yardstick's time; 0 if the limit does not depend on it
};

/// All references outlive the evaluation.
struct Context {
  const Task& task;
  const std::vector<TaskShape>& shapes;  ///< the timed ones, then the others; perhaps not all of the task
  const Bank& bank;                      ///< by number of the shape
  KernelHost& host;
  const std::function<double()>& now_s;
  CallLimit limit;
  std::stop_token stop;

  const std::vector<InputSet>& sets(std::size_t shape) const { return bank[shapes[shape].number]; }
  std::size_t capacity(std::size_t shape) const { return host.capacity(shapes[shape].number); }

  std::size_t timed() const {
    return static_cast<std::size_t>(std::ranges::count(shapes, true, &TaskShape::timed));
  }

  /// The timed shapes' shares of the score, with sum 1; empty if all are equal.
  std::vector<double> weights() const {
    std::vector<double> weights;
    for (const TaskShape& shape : shapes)
      if (shape.timed && shape.weight) weights.push_back(*shape.weight);
    return weights;
  }
};

}  // namespace kernelsmith::judge
