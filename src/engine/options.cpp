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

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(const auto& number) { return std::to_string(number); }

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
  const auto& [iterations, evaluations, wall_s, usd, until_flat, calls] = options.budgets;
  if (options.budgets == Budgets{}) {
    return bad("budgets", "a run needs at least one budget",
               "set iterations, evaluations, calls, wall_s, usd or until_flat");
  }
  if (iterations == 0U) return bad("budgets.iterations", "must be at least 1");
  if (evaluations == 0U) return bad("budgets.evaluations", "must be at least 1");
  if (calls == 0U) return bad("budgets.calls", "must be at least 1");
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
  if (migrates && !iterations && !evaluations && !wall_s && !usd && !calls) {
    return bad("budgets.until_flat", "islands migrate at fractions of a budget, and this run has none",
               "limit iterations, evaluations, calls, wall_s or usd too, or take one island");
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
      {"task", options.task.hex()},  // scores of two tasks cannot be in one archive
      {"seeds", digest_of_all(options.seeds)},
      {"topology", text_of(options.topology)},
      {"axes", text_of(grid)},
  };
  list_plain_settings(options,
                      [&](const char* name, const auto& value) { settings.emplace(name, text_of(value)); });
  // Only if it is set: runs of older versions lack the setting, and must still be resumed.
  if (options.tunings > 0) settings.emplace(kTuningsSetting, std::to_string(options.tunings));
  if (options.objectives.several()) settings.emplace(kObjectivesSetting, options.objectives.to_text());
  settings.insert(options.fixed.begin(), options.fixed.end());
  return settings;
}

namespace {

void list_budgets(auto& budgets, auto&& each) {
  each("iterations", budgets.iterations);
  each("evaluations", budgets.evaluations);
  each("wall_s", budgets.wall_s);
  each("usd", budgets.usd);
  each("until_flat", budgets.until_flat);
  each("calls", budgets.calls);
}

}  // namespace

std::map<std::string, double> by_name(const Budgets& budgets) {
  std::map<std::string, double> limits;
  list_budgets(budgets, [&](const char* name, const auto& limit) {
    if (limit) limits.emplace(name, static_cast<double>(*limit));
  });
  return limits;
}

Budgets budgets_from(const std::map<std::string, double>& limits) {
  Budgets budgets;
  list_budgets(budgets, [&]<class Number>(const char* name, std::optional<Number>& limit) {
    if (const auto it = limits.find(name); it != limits.end()) limit = static_cast<Number>(it->second);
  });
  return budgets;
}

}  // namespace kernelsmith
