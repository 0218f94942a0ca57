#include "worker_supply.hpp"

#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>

namespace kernelsmith {
namespace torch {

ProcessSources WorkerSupply::get(const Key& key, const std::function<ProcessSources()>& make) {
  const MutexLock lock(mutex_);
  if (const auto found = sources_.find(key); found != sources_.end()) return found->second;
  return sources_.emplace(key, make()).first->second;
}

}  // namespace torch

std::shared_ptr<torch::WorkerSupply> make_torch_worker_supply() {
  return std::make_shared<torch::WorkerSupply>();
}

}  // namespace kernelsmith
