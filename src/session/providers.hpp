// The kinds of providers that this build offers in run.yaml, one file for each group.
#pragma once

#include <memory>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// Wraps `local`, so that its jobs go to a fleet if the section `fleet` names one.
std::unique_ptr<EvaluatorProvider> with_fleet(std::unique_ptr<EvaluatorProvider> local);
std::unique_ptr<ProposerProvider> agent_provider();
std::unique_ptr<ProposerProvider> chat_provider();
std::unique_ptr<ProposerProvider> manual_provider();
/// The proposer `mix`, whose arms are proposers of these kinds.
std::unique_ptr<ProposerProvider> mix_provider(Kinds<ProposerProvider> kinds);
std::unique_ptr<ProposerProvider> tuner_provider();
std::unique_ptr<ProposerProvider> recording_provider();
std::unique_ptr<ProposerProvider> program_provider();

std::unique_ptr<SamplerProvider> mixture_sampler_provider();
std::unique_ptr<SamplerProvider> cells_sampler_provider();
std::unique_ptr<SamplerProvider> tree_sampler_provider();
std::unique_ptr<MigrationProvider> best_migration_provider();
std::unique_ptr<MigrationProvider> weighted_migration_provider();

}  // namespace kernelsmith
