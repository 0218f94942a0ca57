#include <algorithm>
#include <cmath>
#include <thread>

#include <kernelsmith/code/complexity.hpp>
#include <kernelsmith/code/knobs.hpp>
#include <kernelsmith/config/nearest_name.hpp>
#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {
namespace {

constexpr std::size_t kMaxDefaultAxes = 2;
constexpr double kDefaultWallSeconds = 60;
constexpr std::uint64_t kDefaultIterations = 200;

template <class P>
Result<Chosen<P>> chosen(const Kinds<P>& kinds, const std::string& kind, const std::string& what) {
  const auto found = kinds.find(kind);
  if (found != kinds.end()) return Chosen<P>{kind, found->second()};
  std::vector<std::string_view> names;
  for (const auto& [name, make] : kinds) names.push_back(name);
  return fail(ErrorCode::unsupported, "this build has no " + what + " \"" + kind + "\"", "",
              name_hint(kind, names));
}

std::string feature_of(const Knob& knob) { return "knob." + knob.name; }

/// A knob whose name is missing or shared by another cannot be told apart by name.
bool has_own_name(const Knob& knob, const std::vector<Knob>& knobs) {
  return !knob.name.empty() &&
         std::ranges::count_if(knobs, [&](const Knob& other) { return other.name == knob.name; }) == 1;
}

std::vector<AxisSpec> knob_axes(std::vector<Knob> knobs) {
  std::erase_if(knobs, [all = knobs](const Knob& knob) {
    return !has_own_name(knob, all) || knob.values.size() < 2 || knob.values.size() > Axis::kMaxBins;
  });
  std::ranges::stable_sort(knobs, std::greater{}, [](const Knob& knob) { return knob.values.size(); });
  if (knobs.size() > kMaxDefaultAxes) knobs.resize(kMaxDefaultAxes);
  std::vector<AxisSpec> axes;
  for (Knob& knob : knobs) axes.push_back({feature_of(knob), CategoricalScale{std::move(knob.values)}});
  return axes;
}

/// From a quarter of the seed's own value to sixteen times it: programs grow more often than they shrink.
AxisSpec size_axis(const std::string& feature, double seed_value) {
  const double middle = std::max(4.0, seed_value);
  return {feature, LogarithmicScale{middle / 4, middle * 16, 8}};
}

/// Half an octave to a bin.
AxisSpec speedup_axis() { return {"fitness", LogarithmicScale{0.5, 32, 12}}; }

std::optional<double> as_double(std::optional<std::size_t> index) {
  return index ? std::optional(static_cast<double>(*index)) : std::nullopt;
}

}  // namespace

std::string_view name_of(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::ring:
      return "ring";
    case TopologyKind::full:
      return "full";
    case TopologyKind::star:
      return "star";
    case TopologyKind::edges:
      return "edges";
  }
  return "";
}

std::map<std::string, double> source_features(const Source& source, std::span<const AxisSpec> axes) {
  std::map<std::string, double> features = static_features(source);
  const auto knobs = find_knobs(source);
  if (!knobs) return features;  // the evaluator rejects such a source
  for (const Knob& knob : *knobs) {
    if (!has_own_name(knob, *knobs)) continue;
    const auto axis = std::ranges::find(axes, feature_of(knob), &AxisSpec::feature);
    const auto* scale = axis == axes.end() ? nullptr : std::get_if<CategoricalScale>(&axis->scale);
    if (const auto value =
            scale ? as_double(nearest_value(knob.value(), scale->categories)) : number_of(knob.value()))
      features[feature_of(knob)] = *value;
  }
  return features;
}

void set_default_axes(const Task& task, RunConfig& config) {
  if (config.axes) return;
  if (const auto knobs = find_knobs(task.seed); only_tunes(config) && knobs && !knobs->empty())
    if (auto axes = knob_axes(*knobs); !axes.empty()) {
      config.axes = std::move(axes);
      return;
    }
  const auto features = static_features(task.seed.empty() ? task.reference : task.seed);
  const bool fitness_is_speedup = !task.reference.empty();
  config.axes = {size_axis("complexity", features.at("complexity")),
                 fitness_is_speedup ? speedup_axis() : size_axis("tokens", features.at("tokens"))};
}

Result<RunConfig> default_config(const Task& task, const Registry& registry) {
  RunConfig config;
  auto evaluator = chosen(registry.evaluators, task.backend, "backend");
  if (!evaluator) return evaluator.error();
  auto proposer = chosen(registry.proposers, "tuner", "proposer");
  if (!proposer) return proposer.error();
  auto sampler = chosen(registry.samplers, "tree", "sampler");
  if (!sampler) return sampler.error();
  auto migration = chosen(registry.migrations, "best", "migration");
  if (!migration) return migration.error();
  const auto described = registry.backends.find(task.backend);
  if (described != registry.backends.end()) config.backend = described->second;
  config.backend.name = task.backend;
  config.evaluator = *evaluator;
  config.proposer = *proposer;
  config.proposer.provider->describe_backend(config.backend);
  config.sampler = *sampler;
  config.migration = *migration;
  for (const Operator op : config.proposer.provider->operators()) config.operators.push_back({{op, ""}, 1.0});
  config.workers = std::max(1u, std::thread::hardware_concurrency());
  return config;
}

bool only_tunes(const RunConfig& config) {
  return std::ranges::all_of(config.operators,
                             [](const auto& entry) { return entry.choice.op == Operator::tune; });
}

void set_default_budget(RunConfig& config) {
  if (config.budgets != Budgets{}) return;
  if (config.deterministic)
    config.budgets.iterations = kDefaultIterations;
  else
    config.budgets.wall_s = kDefaultWallSeconds;
}

Result<Topology> topology_of(const RunConfig& config) {
  switch (config.topology) {
    case TopologyKind::ring:
      return Topology::ring(config.islands);
    case TopologyKind::full:
      return Topology::full(config.islands);
    case TopologyKind::star:
      return Topology::star(config.islands);
    case TopologyKind::edges:
      break;
  }
  return Topology::from_edges(config.islands, config.edges);
}

}  // namespace kernelsmith
