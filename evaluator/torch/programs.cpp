#include "programs.hpp"

#include <utility>

#include <kernelsmith/evaluator_torch/torch_evaluator.hpp>

namespace kernelsmith {
namespace torch {

Result<PythonProcess> SpareWorkers::start(Role role) {
  const std::lock_guard lock(mutex_);
  const auto found = spares_.find(role);
  const bool ready = found != spares_.end() && found->second.alive();
  auto worker = ready ? Result<PythonProcess>(std::move(found->second)) : start_(role);
  if (found != spares_.end()) spares_.erase(found);
  if (!worker) return worker;
  // If the next one does not start, whoever needs it gets the error.
  if (auto next = start_(role)) spares_.emplace(role, std::move(*next));
  return worker;
}

Supply Programs::get(const Key& key, const std::function<Supply()>& make) {
  const std::lock_guard lock(mutex_);
  if (const auto found = supplies_.find(key); found != supplies_.end()) return found->second;
  Supply made = make();
  const auto spares = std::make_shared<SpareWorkers>(std::move(made.start));
  Supply supply{std::move(made.planners), [spares](Role role) { return spares->start(role); },
                std::move(made.extensions)};
  return supplies_.emplace(key, std::move(supply)).first->second;
}

}  // namespace torch

std::shared_ptr<torch::Programs> make_torch_programs() { return std::make_shared<torch::Programs>(); }

}  // namespace kernelsmith
