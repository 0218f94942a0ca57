#include "worker_supply.hpp"

#include <utility>

#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>

namespace kernelsmith {
namespace torch {

Result<PythonProcess> SpareWorkers::start(Role role) {
  const MutexLock lock(mutex_);
  const auto found = spares_.find(role);
  const bool ready = found != spares_.end() && found->second.alive();
  auto worker = ready ? Result<PythonProcess>(std::move(found->second)) : start_(role);
  if (found != spares_.end()) spares_.erase(found);
  if (!worker) return worker;
  // If the next worker does not start, a later call starts one and gets the error.
  if (auto next = start_(role)) spares_.emplace(role, std::move(*next));
  return worker;
}

ProcessSources WorkerSupply::get(const Key& key, const std::function<ProcessSources()>& make) {
  const MutexLock lock(mutex_);
  if (const auto found = sources_.find(key); found != sources_.end()) return found->second;
  ProcessSources made = make();
  const auto spares = std::make_shared<SpareWorkers>(std::move(made.start));
  ProcessSources sources{std::move(made.planners), [spares](Role role) { return spares->start(role); },
                         std::move(made.extensions)};
  return sources_.emplace(key, std::move(sources)).first->second;
}

}  // namespace torch

std::shared_ptr<torch::WorkerSupply> make_torch_worker_supply() {
  return std::make_shared<torch::WorkerSupply>();
}

}  // namespace kernelsmith
