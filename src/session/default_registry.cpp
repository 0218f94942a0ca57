// The backends, proposers and policies that the command and the Python module offer.
#include <kernelsmith/evaluator/command/command_registration.hpp>
#include <kernelsmith/evaluator/cpu/cpu_registration.hpp>
#include <kernelsmith/evaluator/cuda/cuda_registration.hpp>
#include <kernelsmith/evaluator/python/python_registration.hpp>
#include <kernelsmith/evaluator/torch/torch_registration.hpp>

#include "providers.hpp"

namespace kernelsmith {
Registry default_registry() {
  Registry registry;
  add_backend(registry, cpu_backend());
  add_backend(registry, command_backend());
  add_backend(registry, cuda_backend());
  add_backend(registry, maca_backend());
  add_backend(registry, hip_backend());
  add_backend(registry, python_backend());
  add_backend(registry, torch_backend());
  registry.proposers = {{"tuner", tuner_provider},         {"agent", agent_provider},
                        {"chat", chat_provider},           {"manual", manual_provider},
                        {"recording", recording_provider}, {"python", program_provider}};
  registry.proposers["mix"] = [] {
    return mix_provider({{"agent", agent_provider}, {"chat", chat_provider}});
  };
  registry.samplers = {{"cells", cells_sampler_provider},
                       {"mixture", mixture_sampler_provider},
                       {"tree", tree_sampler_provider}};
  registry.migrations = {{"best", best_migration_provider}, {"weighted", weighted_migration_provider}};
  return registry;
}

}  // namespace kernelsmith
