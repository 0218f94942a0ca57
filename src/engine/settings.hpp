// Checks EngineOptions, and lists the settings that must not change within a run.
#pragma once

#include <map>
#include <string>

#include <kernelsmith/archive/grid.hpp>
#include <kernelsmith/core/event.hpp>
#include <kernelsmith/engine/options.hpp>

namespace kernelsmith {

/// The setting that only runs with several objectives have.
inline constexpr const char* kObjectivesSetting = "objectives";

/// The setting that only runs with EngineOptions::tunings have.
inline constexpr const char* kTuningsSetting = "tunings";

/// Fills in the default policies.
EngineOptions with_defaults(EngineOptions options);

/// Fails with `invalid_argument`; `where` is the option's name.
Status check_options(const EngineOptions& options);
Status check_budgets(const EngineOptions& options);

/// Calls `each(name, value)` with every setting that is a number or a flag.
void list_plain_settings(auto& options, auto&& each) {
  each("seed", options.seed);
  each("seeds_must_pass", options.seeds_must_pass);
  each("island.rejections", options.island.rejections);
  each("island.recent_failures", options.island.recent_failures);
  each("migration_period", options.migration_period);
  each("repairs", options.repairs);
  each("duels", options.duels);
  each("confirm", options.confirm);
  each("idle_iterations", options.idle_iterations);
  each("deterministic", options.deterministic);
  if (options.deterministic) each("pipeline", options.pipeline);
}

/// All settings on which the state depends besides the events: by name, as text.
std::map<std::string, std::string> settings_of(const EngineOptions& options, const Grid& grid);

/// Whether a ticket asks for a child that may cost money.
bool is_call(const TicketOpened& ticket);

std::map<std::string, double> by_name(const Budgets& budgets);
Budgets budgets_from(const std::map<std::string, double>& limits);

}  // namespace kernelsmith
