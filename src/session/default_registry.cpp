// The backends, proposers and policies that the command and the Python module offer.
#include <kernelsmith/evaluator/command/command_evaluator.hpp>
#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>
#include <kernelsmith/evaluator/cuda/cuda_evaluator.hpp>
#include <kernelsmith/evaluator/python/python_evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>

#include "providers.hpp"

namespace kernelsmith {
namespace {

void add_backend(Registry& registry, BackendDescription description,
                 std::unique_ptr<EvaluatorProvider> (*provider)()) {
  registry.evaluators.emplace(description.name, [provider] { return with_fleet(provider()); });
  registry.backends.emplace(description.name, std::move(description));
}

}  // namespace

Registry default_registry() {
  Registry registry;
  add_backend(registry, describe_cpu_backend(), cpu_evaluator_provider);
  add_backend(registry, describe_command_backend(), command_evaluator_provider);
  add_backend(registry, describe_cuda_backend(), cuda_evaluator_provider);
  add_backend(registry, describe_python_backend(), python_evaluator_provider);
  add_backend(registry, describe_torch_backend(), torch_evaluator_provider);
  registry.proposers = {{"tuner", tuner_provider},
                        {"chat", chat_provider},
                        {"manual", manual_provider},
                        {"recording", recording_provider},
                        {"python", program_provider}};
  registry.samplers = {{"mixture", mixture_sampler_provider}};
  registry.migrations = {{"best", best_migration_provider}, {"weighted", weighted_migration_provider}};
  return registry;
}

}  // namespace kernelsmith
