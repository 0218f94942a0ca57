// What all steps of one evaluation look at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/kernel_host.hpp>

namespace kernelsmith::judge {

/// How long a call may take.
struct CallLimit {
  double s = 0;
  double yardstick_us = 0;  ///< what the yardstick's takes, if it counts
};

/// All references outlive the evaluation.
struct Context {
  const Task& task;
  const std::vector<TaskShape>& shapes;  ///< the timed ones, then the others
  const Bank& bank;
  KernelHost& host;
  const std::function<double()>& now_s;
  CallLimit limit;
  std::stop_token stop;

  std::size_t timed() const {
    return static_cast<std::size_t>(std::ranges::count(shapes, true, &TaskShape::timed));
  }

  /// The timed shapes' shares in the score, with the sum 1; empty if all count alike.
  std::vector<double> weights() const {
    std::vector<double> weights;
    for (const TaskShape& shape : shapes)
      if (shape.timed && shape.weight) weights.push_back(*shape.weight);
    return weights;
  }
};

}  // namespace kernelsmith::judge
