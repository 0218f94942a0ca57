#include "providers.hpp"

namespace kernelsmith {

Registry default_registry() {
  Registry registry;
  registry.evaluators = {{"cpu", cpu_evaluator_provider}, {"command", command_evaluator_provider}};
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
