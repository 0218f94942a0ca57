// Checks the engine's options, and writes them as the settings that a run records.
#include <chrono>
#include <cmath>

#include "settings.hpp"

namespace kernelsmith {
namespace {

Error bad(const char* option, const char* message, const char* hint = "") {
  return fail(ErrorCode::invalid_argument, message, option, hint);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string text_of(const Topology& topology) {
  std::string text = std::to_string(topology.islands()) + " islands";
  for (const auto& edge : topology.edges()) {
    text += " " + std::to_string(edge.from.value) + ">" + std::to_string(edge.to.value);
  }
  return text;
}

std::string text_of(const Grid& grid) {
  std::string text;
  for (const auto& axis : grid.axes()) text += (text.empty() ? "" : "; ") + axis.to_text();
  return text;
}

std::string digest_of_all(const std::vector<Source>& sources) {
  DigestBuilder builder;
  for (const auto& source : sources) builder.add(source.digest().hex());
  return builder.finish().hex();
}

}  // namespace

EngineOptions with_defaults(EngineOptions options) {
  if (!options.sampler) options.sampler = std::make_shared<TreeSampler>(TreeSampler::create().value());
  if (!options.operators) {
    options.operators = std::make_shared<WeightedOperators>(
        WeightedOperators::create({{{Operator::rewrite, ""}, 1}}).value());
  }
  if (!options.migration) options.migration = std::make_shared<BestMigration>(1);
  if (!options.fingerprint) options.fingerprint = [](const Source& source) { return source.digest(); };
  if (!options.clock_s) options.clock_s = steady_seconds;
  return options;
}

Status check_options(const EngineOptions& options) {
  if (!(options.migration_period > 0 && options.migration_period <= 1)) {
    return bad("migration_period", "the migration period is a share of the run, above 0 and at most 1");
  }
  if (options.pipeline == 0) return bad("pipeline", "the pipeline must hold at least one ticket");
  if (options.idle_iterations == 0) return bad("idle_iterations", "must be at least 1");
  if (options.proposals_in_flight == 0) return bad("proposals_in_flight", "must be at least 1");
  if (options.evaluations_in_flight == 0) return bad("evaluations_in_flight", "must be at least 1");
  if (options.error_limit == 0) return bad("error_limit", "must be at least 1");
  if (!(options.retry_delay_s >= 0 && std::isfinite(options.retry_delay_s))) {
    return bad("retry_delay_s", "must be a number of seconds, 0 or more");
  }
  if (options.answer_timeout_s &&
      !(*options.answer_timeout_s > 0 && std::isfinite(*options.answer_timeout_s))) {
    return bad("answer_timeout_s", "must be a number of seconds above 0");
  }
  return {};
}

Status check_budgets(const EngineOptions& options) {
  const auto& [iterations, evaluations, wall_s, usd, until_flat] = options.budgets;
  if (options.budgets == Budgets{}) {
    return bad("budgets", "a run needs at least one budget",
               "set iterations, evaluations, wall_s, usd or until_flat");
  }
  if (iterations == 0U) return bad("budgets.iterations", "must be at least 1");
  if (evaluations == 0U) return bad("budgets.evaluations", "must be at least 1");
  if (wall_s && !(*wall_s > 0 && std::isfinite(*wall_s))) {
    return bad("budgets.wall_s", "must be a number of seconds above 0");
  }
  if (usd && !(*usd > 0 && std::isfinite(*usd))) {
    return bad("budgets.usd", "must be a number of US dollars above 0");
  }
  if (until_flat && !(*until_flat > 0 && *until_flat <= 100)) {
    return bad("budgets.until_flat", "must be a number of percent above 0 and at most 100");
  }
  const bool migrates = !options.topology.edges().empty();
  if (migrates && !iterations && !evaluations && !wall_s && !usd) {
    return bad("budgets.until_flat", "islands migrate at fractions of a budget, and this run has none",
               "limit iterations, evaluations, wall_s or usd too, or take one island");
  }
  if (wall_s && options.deterministic) {
    return bad("budgets.wall_s",
               "a deterministic run takes no wall time budget: its end would depend on the clock",
               "limit iterations or evaluations instead");
  }
  return {};
}

std::map<std::string, std::string> settings_of(const EngineOptions& options, const Grid& grid) {
  std::map<std::string, std::string> settings{
      {"task", options.task.hex()},  // one archive cannot mix scores of two tasks
      {"seed", std::to_string(options.seed)},
      {"seeds", digest_of_all(options.seeds)},
      {"seeds_must_pass", options.seeds_must_pass ? "true" : "false"},
      {"topology", text_of(options.topology)},
      {"axes", text_of(grid)},
      {"island.rejections", std::to_string(options.island.rejections)},
      {"island.recent_failures", std::to_string(options.island.recent_failures)},
      {"migration_period", std::to_string(options.migration_period)},
      {"repairs", std::to_string(options.repairs)},
      {"duels", std::to_string(options.duels)},
      {"confirm", options.confirm ? "true" : "false"},
      {"idle_iterations", std::to_string(options.idle_iterations)},
      {"deterministic", options.deterministic ? "true" : "false"},
  };
  // Only if it is set, so that runs of older versions, which lack it, can be resumed.
  if (options.tunings > 0) settings.emplace(kTuningsSetting, std::to_string(options.tunings));
  if (options.deterministic) settings.emplace("pipeline", std::to_string(options.pipeline));
  if (options.objectives.several()) settings.emplace(kObjectivesSetting, options.objectives.to_text());
  settings.insert(options.fixed.begin(), options.fixed.end());
  return settings;
}

std::map<std::string, double> by_name(const Budgets& budgets) {
  std::map<std::string, double> limits;
  if (budgets.iterations) limits.emplace("iterations", static_cast<double>(*budgets.iterations));
  if (budgets.evaluations) limits.emplace("evaluations", static_cast<double>(*budgets.evaluations));
  if (budgets.wall_s) limits.emplace("wall_s", *budgets.wall_s);
  if (budgets.usd) limits.emplace("usd", *budgets.usd);
  if (budgets.until_flat) limits.emplace("until_flat", *budgets.until_flat);
  return limits;
}

Budgets budgets_from(const std::map<std::string, double>& limits) {
  Budgets budgets;
  if (const auto it = limits.find("iterations"); it != limits.end()) {
    budgets.iterations = static_cast<std::uint64_t>(it->second);
  }
  if (const auto it = limits.find("evaluations"); it != limits.end()) {
    budgets.evaluations = static_cast<std::uint64_t>(it->second);
  }
  if (const auto it = limits.find("wall_s"); it != limits.end()) budgets.wall_s = it->second;
  if (const auto it = limits.find("usd"); it != limits.end()) budgets.usd = it->second;
  if (const auto it = limits.find("until_flat"); it != limits.end()) budgets.until_flat = it->second;
  return budgets;
}

}  // namespace kernelsmith
