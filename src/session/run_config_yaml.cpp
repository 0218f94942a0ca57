// run.yaml: RunConfig as text, both ways. A key is named once for reading and once for writing.
#include <algorithm>
#include <array>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/session/run_config.hpp>

#include "model_support.hpp"
#include "objectives_yaml.hpp"
#include "operators_yaml.hpp"

namespace kernelsmith {
namespace {

constexpr std::uint64_t kVersion = 1;

const Choices<Durability> kDurabilities = {{"process", Durability::process}, {"power", Durability::power}};
const Choices<TopologyKind> kTopologies =
    choices({TopologyKind::ring, TopologyKind::full, TopologyKind::star, TopologyKind::edges});
const Choices<AxesPreset> kAxesPresets = choices({AxesPreset::kernel_smith, AxesPreset::behaviour});

enum class ScaleKind { linear, logarithmic, edges, categories };
const Choices<ScaleKind> kScales = {{"linear", ScaleKind::linear},
                                    {"logarithmic", ScaleKind::logarithmic},
                                    {"edges", ScaleKind::edges},
                                    {"categories", ScaleKind::categories}};

template <class E>
std::string_view word_of(E value, const Choices<E>& words) {
  return std::ranges::find(words, value, &std::pair<std::string_view, E>::second)->first;
}

void read_unsigned(YamlMap& in, std::string_view key, unsigned& out, Range<int> range) {
  int value = static_cast<int>(out);
  in.optional(key, value, range);
  out = static_cast<unsigned>(value);
}

void read_version(YamlMap& in) {
  std::uint64_t version = kVersion;
  in.optional("version", version);
  if (version != kVersion)
    in.refuse("version", "this kernelsmith reads version 1, not " + std::to_string(version),
              "use the kernelsmith that wrote the file, or a newer one");
}

// Budgets. An absent one does not bind, and is therefore not written.

template <class T>
void read_limit(YamlMap& in, std::string_view key, std::optional<T>& limit, Range<T> range) {
  if (in.kind(key) == YamlKind::absent) return;
  T value{};
  in.required(key, value, range);
  limit = value;
}

void read_budgets(YamlMap& in, Budgets& budgets) {
  read_limit(in, "iterations", budgets.iterations, {1, UINT64_MAX});
  read_limit(in, "evaluations", budgets.evaluations, {1, UINT64_MAX});
  read_limit(in, "wall_time_s", budgets.wall_s, {0.001, 1e9});
  read_limit(in, "usd", budgets.usd, {1e-6, 1e9});
  read_limit(in, "until_flat", budgets.until_flat, {1e-6, 100.0});
}

void write_budgets(YamlWriter& out, const Budgets& budgets) {
  if (budgets.iterations) out.put("iterations", *budgets.iterations);
  if (budgets.evaluations) out.put("evaluations", *budgets.evaluations);
  if (budgets.wall_s) out.put("wall_time_s", *budgets.wall_s);
  if (budgets.usd) out.put("usd", *budgets.usd);
  if (budgets.until_flat) out.put("until_flat", *budgets.until_flat);
}

// Axes.

template <class Ranged>
void read_ranged(YamlMap& in, Ranged& scale) {
  in.required("low", scale.low);
  in.required("high", scale.high);
  in.required("bins", scale.bins, {1, Axis::kMaxBins});
}

void read_axis(YamlMap& in, AxisSpec& axis) {
  ScaleKind kind = ScaleKind::linear;
  in.required("feature", axis.feature);
  in.optional("scale", kind, kScales);
  switch (kind) {
    case ScaleKind::linear:
      read_ranged(in, axis.scale.emplace<LinearScale>());
      break;
    case ScaleKind::logarithmic:
      read_ranged(in, axis.scale.emplace<LogarithmicScale>());
      break;
    case ScaleKind::edges:
      in.required("edges", axis.scale.emplace<EdgeScale>().edges);
      break;
    case ScaleKind::categories:
      in.required("categories", axis.scale.emplace<CategoricalScale>().categories);
      break;
  }
  if (!in.ok()) return;
  if (const auto valid = Axis::create(axis); !valid)
    in.refuse("feature", valid.error().message, valid.error().hint);
}

struct ScaleWriter {
  YamlWriter& out;

  void ranged(ScaleKind kind, const auto& scale) {
    out.put("scale", word_of(kind, kScales));
    out.put("low", scale.low);
    out.put("high", scale.high);
    out.put("bins", scale.bins);
  }
  void operator()(const LinearScale& scale) { ranged(ScaleKind::linear, scale); }
  void operator()(const LogarithmicScale& scale) { ranged(ScaleKind::logarithmic, scale); }
  void operator()(const EdgeScale& scale) {
    out.put("scale", word_of(ScaleKind::edges, kScales));
    out.put("edges", scale.edges);
  }
  void operator()(const CategoricalScale& scale) {
    out.put("scale", word_of(ScaleKind::categories, kScales));
    out.put("categories", scale.categories);
  }
};

void write_axis(YamlWriter& out, const AxisSpec& axis) {
  out.put("feature", axis.feature);
  std::visit(ScaleWriter{out}, axis.scale);
}

void read_axes_preset(YamlMap& in, RunConfig& config) {
  AxesPreset preset{};
  in.required("axes", preset, kAxesPresets);
  config.axes.reset();
  config.axes_preset = preset;
  if (in.ok() && preset == AxesPreset::behaviour && config.backend.behaviour.empty())
    in.refuse("axes", "the backend '" + config.backend.name + "' reports no behaviour of its own",
              "list the axes, over numbers that its evaluator gives: axes: [{feature: NAME, low: 0, high: 1, "
              "bins: 8}]");
}

void read_archive(YamlMap& in, RunConfig& config) {
  const YamlKind kind = in.kind("axes");
  if (kind == YamlKind::absent) return;
  if (kind == YamlKind::scalar) return read_axes_preset(in, config);
  std::vector<AxisSpec>& axes = config.axes.emplace();
  config.axes_preset.reset();
  in.optional_maps("axes", [&](YamlMap& axis) { read_axis(axis, axes.emplace_back()); });
  if (!in.ok()) return;
  if (const auto valid = Grid::create(axes); !valid)
    in.refuse("axes", valid.error().message, valid.error().hint);
}

void write_archive(YamlWriter& out, const RunConfig& config) {
  if (config.axes)
    out.maps("axes", *config.axes, write_axis);
  else
    out.put("axes", name_of(*config.axes_preset));
}

// Islands.

void read_edge(YamlMap& in, MigrationEdge& edge) {
  int from = 0, to = 0;
  in.required("from", from, {0, static_cast<int>(Topology::kMaxIslands)});
  in.required("to", to, {0, static_cast<int>(Topology::kMaxIslands)});
  edge = {{static_cast<std::uint32_t>(from)}, {static_cast<std::uint32_t>(to)}};
}

void read_islands(YamlMap& in, RunConfig& config) {
  in.optional("count", config.islands, {1, Topology::kMaxIslands});
  in.optional("topology", config.topology, kTopologies);
  if (config.topology == TopologyKind::edges) {
    if (in.kind("edges") != YamlKind::absent) config.edges.clear();
    in.optional_maps("edges", [&](YamlMap& edge) { read_edge(edge, config.edges.emplace_back()); });
  }
  in.optional("rejections", config.island.rejections, {1, 100'000});
  in.optional("recent_failures", config.island.recent_failures, {0, 100'000});
  if (!in.ok()) return;
  if (const auto valid = topology_of(config); !valid)
    in.refuse("topology", valid.error().message, valid.error().hint);
}

void write_islands(YamlWriter& out, const RunConfig& config) {
  out.put("count", config.islands);
  out.put("topology", word_of(config.topology, kTopologies));
  if (config.topology == TopologyKind::edges)
    out.maps("edges", config.edges, [](YamlWriter& item, const MigrationEdge& edge) {
      item.put("from", static_cast<std::uint64_t>(edge.from.value));
      item.put("to", static_cast<std::uint64_t>(edge.to.value));
    });
  out.put("rejections", config.island.rejections);
  out.put("recent_failures", config.island.recent_failures);
}

// Choices out of the registry.

template <class P>
void read_choice(YamlMap& in, const Kinds<P>& kinds, Chosen<P>& chosen) {
  std::string kind = chosen.kind;
  in.optional("kind", kind);
  if (!in.ok()) return;
  if (kind != chosen.kind) {
    Choices<std::string> names;
    for (const auto& [name, make] : kinds) names.emplace_back(name, name);
    in.required("kind", kind, names);
    if (!in.ok()) return;
    chosen = {kind, kinds.at(kind)()};
  }
  chosen.provider->read(in);
}

template <class P>
void write_choice(YamlWriter& out, const Chosen<P>& chosen) {
  out.put("kind", chosen.kind);
  chosen.provider->write(out);
}

void read_evaluator(YamlMap& in, Chosen<EvaluatorProvider>& chosen) {
  std::string kind = chosen.kind;
  in.optional("kind", kind);
  if (kind != chosen.kind)
    return in.refuse("kind", "the task's backend is " + chosen.kind,
                     "leave the key out, or change task.yaml");
  chosen.provider->read(in);
}

void read_proposer(YamlMap& in, const Registry& registry, RunConfig& config) {
  const std::string before = config.proposer.kind;
  read_choice(in, registry.proposers, config.proposer);
  if (config.proposer.kind == before) return;
  config.proposer.provider->describe_backend(config.backend);
  config.operators.clear();
  for (auto& choice : config.proposer.provider->operators())
    config.operators.push_back({std::move(choice), 1.0});
}

/// The line of policy_texts() for the operators as the lines that it was made of. A model's name may hold
/// what parts them, too, but without one of the keys behind it.
std::string as_block(std::string text) {
  constexpr std::array<std::string_view, 6> kKeys = {
      "operator:", "model:", "weight:", "choose:", "cost:", "arms:"};
  for (auto comma = text.find(", "); comma != std::string::npos; comma = text.find(", ", comma + 1)) {
    const auto key =
        std::string_view(text).substr(std::min(text.find_first_not_of("- ", comma + 2), text.size()));
    if (std::ranges::any_of(kKeys, [&](std::string_view one) { return key.starts_with(one); }))
      text.replace(comma, 2, "\n");
  }
  return text + "\n";
}

// The rest of the search.

void read_limits(YamlMap& in, RunConfig& config) {
  read_unsigned(in, "repairs", config.repairs, {0, 100});
  read_unsigned(in, "duels", config.duels, {0, 100});
  read_unsigned(in, "tunings", config.tunings, {0, 1000});
  in.optional("confirm", config.confirm);
  read_unsigned(in, "idle_iterations", config.idle_iterations, {1, 1'000'000'000});
  read_unsigned(in, "errors_in_a_row", config.error_limit, {1, 1'000'000});
}

void write_limits(YamlWriter& out, const RunConfig& config) {
  out.put("repairs", static_cast<std::uint64_t>(config.repairs));
  out.put("duels", static_cast<std::uint64_t>(config.duels));
  out.put("tunings", static_cast<std::uint64_t>(config.tunings));
  out.put("confirm", config.confirm);
  out.put("idle_iterations", static_cast<std::uint64_t>(config.idle_iterations));
  out.put("errors_in_a_row", static_cast<std::uint64_t>(config.error_limit));
}

// The memory. A run without one says nothing of it.

void read_memory(YamlMap& in, MemorySettings& memory) {
  if (in.kind("store") != YamlKind::absent) memory.is_stored = false;
  in.optional("store", memory.store);
  in.optional("budget_tokens", memory.budget_tokens, {1, 1'000'000});
  in.optional("snapshot", memory.snapshot);
}

void write_memory(YamlWriter& out, const MemorySettings& memory) {
  out.put("store", kept_path(memory.store));
  out.put("budget_tokens", memory.budget_tokens);
  out.put("snapshot", memory.snapshot);
}

}  // namespace

Status read_config(std::string_view yaml, const std::string& file, const Registry& registry,
                   RunConfig& config) {
  return read_yaml(yaml, file, [&](YamlMap& in) {
    read_version(in);
    in.optional("seed", config.seed);
    in.optional("deterministic", config.deterministic);
    in.optional("pipeline", config.pipeline, {1, 1'000'000});
    read_unsigned(in, "workers", config.workers, {1, 1024});
    in.optional("durability", config.durability, kDurabilities);
    in.optional_map("budgets", [&](YamlMap& map) { read_budgets(map, config.budgets); });
    in.optional_map("archive", [&](YamlMap& map) { read_archive(map, config); });
    read_objectives(in, config.objectives);
    in.optional_map("islands", [&](YamlMap& map) { read_islands(map, config); });
    in.optional_map("migration", [&](YamlMap& map) {
      map.optional("period", config.migration_period, {1e-6, 1.0});
      read_choice(map, registry.migrations, config.migration);
    });
    in.optional_map("sampler", [&](YamlMap& map) { read_choice(map, registry.samplers, config.sampler); });
    in.optional_map("proposer", [&](YamlMap& map) { read_proposer(map, registry, config); });
    read_operators(in, config);
    in.optional_map("limits", [&](YamlMap& map) { read_limits(map, config); });
    in.optional_map("evaluator", [&](YamlMap& map) { read_evaluator(map, config.evaluator); });
    in.optional_map("memory", [&](YamlMap& map) { read_memory(map, config.memory); });
  });
}

std::map<std::string, std::string> policy_texts(const RunConfig& config) {
  const auto line_of = [](const std::function<void(YamlWriter&)>& write) {
    YamlWriter out;
    write(out);
    std::string text = out.finish();
    while (text.ends_with('\n')) text.pop_back();
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', end))
      text.replace(end, 1, ", ");
    return text;
  };
  return {{"migration", line_of([&](YamlWriter& out) { write_choice(out, config.migration); })},
          {"sampler", line_of([&](YamlWriter& out) { write_choice(out, config.sampler); })},
          {"proposer", line_of([&](YamlWriter& out) { write_choice(out, config.proposer); })},
          {"operators", line_of([&](YamlWriter& out) { write_operators(out, config); })}};
}

Status read_policy(const std::string& name, const std::string& text, RunConfig& config) {
  if (name == "operators") {
    config.operators.clear();
    config.arm_cost.reset();
    return read_yaml(as_block(text), name, [&](YamlMap& in) { read_operators(in, config); });
  }
  if (name != "sampler" || !text.starts_with("kind: "))
    return fail(ErrorCode::corrupt, "the journal's setting cannot be read: \"" + text + "\"", name);
  config.sampler = {};  // its provider is shared with whatever the configuration was copied from
  const Registry registry = default_registry();
  return read_yaml("sampler: {" + text + "}\n", name, [&](YamlMap& in) {
    in.optional_map("sampler", [&](YamlMap& map) { read_choice(map, registry.samplers, config.sampler); });
  });
}

std::string to_yaml(const RunConfig& config) {
  YamlWriter out;
  out.comment("How the task is searched, with every default written out. docs/formats.md explains the keys.");
  out.put("version", kVersion);
  out.put("seed", config.seed);
  out.put("deterministic", config.deterministic);
  out.put("pipeline", config.pipeline);
  out.put("workers", static_cast<std::uint64_t>(config.workers));
  out.put("durability", word_of(config.durability, kDurabilities));
  out.map("budgets", [&](YamlWriter& map) { write_budgets(map, config.budgets); });
  if (config.axes || config.axes_preset)
    out.map("archive", [&](YamlWriter& map) { write_archive(map, config); });
  write_objectives(out, config.objectives);
  out.map("islands", [&](YamlWriter& map) { write_islands(map, config); });
  out.map("migration", [&](YamlWriter& map) {
    map.put("period", config.migration_period);
    write_choice(map, config.migration);
  });
  out.map("sampler", [&](YamlWriter& map) { write_choice(map, config.sampler); });
  out.map("proposer", [&](YamlWriter& map) { write_choice(map, config.proposer); });
  write_operators(out, config);
  out.map("limits", [&](YamlWriter& map) { write_limits(map, config); });
  out.map("evaluator", [&](YamlWriter& map) { write_choice(map, config.evaluator); });
  if (!config.memory.store.empty() || !config.memory.snapshot.empty())
    out.map("memory", [&](YamlWriter& map) { write_memory(map, config.memory); });
  return out.finish();
}

}  // namespace kernelsmith
