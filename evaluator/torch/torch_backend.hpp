// The Backend for torch, with time limits that tests can set.
#pragma once

#include <memory>

#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>

#include "memory_hold.hpp"
#include "planner_pool.hpp"
#include "reference_process.hpp"

namespace kernelsmith::torch {

struct Limits {
  PlannerLimits planner;
  WorkerLimits worker;
  double memory_turn_s = MemoryHold::kTurnS;
};

/// Like make_torch_backend().
Result<std::shared_ptr<Backend>> make_backend(const std::shared_ptr<const Task>& task,
                                              const TorchOptions& options, const Limits& limits);

}  // namespace kernelsmith::torch
