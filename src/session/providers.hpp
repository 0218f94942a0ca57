// The kinds that this build offers to run.yaml, one file for each group.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

std::unique_ptr<EvaluatorProvider> cpu_evaluator_provider();
std::unique_ptr<EvaluatorProvider> cuda_evaluator_provider();
std::unique_ptr<EvaluatorProvider> torch_evaluator_provider();
std::unique_ptr<EvaluatorProvider> command_evaluator_provider();
std::unique_ptr<EvaluatorProvider> python_evaluator_provider();

/// `local`, whose jobs go to a fleet if the section `fleet` names one.
std::unique_ptr<EvaluatorProvider> with_fleet(std::unique_ptr<EvaluatorProvider> local);
/// `tell` is called with why a fleet's server gives no answer, by evaluators that with_fleet()'s makes from
/// now on.
void tell_of_server(EvaluatorProvider& provider, const std::function<void(const std::string&)>& tell);

std::unique_ptr<ProposerProvider> chat_provider();
std::unique_ptr<ProposerProvider> manual_provider();
std::unique_ptr<ProposerProvider> tuner_provider();
std::unique_ptr<ProposerProvider> recording_provider();
std::unique_ptr<ProposerProvider> program_provider();

std::unique_ptr<SamplerProvider> mixture_sampler_provider();
std::unique_ptr<MigrationProvider> best_migration_provider();
std::unique_ptr<MigrationProvider> weighted_migration_provider();

}  // namespace kernelsmith
