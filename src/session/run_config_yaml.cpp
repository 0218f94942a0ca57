// Reads, writes and describes run.yaml, the text of a RunConfig. Each key is listed once.
#include <algorithm>
#include <array>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/config/section.hpp>
#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/session/run_config.hpp>

#include "sections.hpp"

namespace kernelsmith {
namespace {

constexpr std::uint64_t kVersion = 1;

const Choices<Durability> kDurabilities = {{"process", Durability::process}, {"power", Durability::power}};
const Choices<TopologyKind> kTopologies =
    choices({TopologyKind::ring, TopologyKind::full, TopologyKind::star, TopologyKind::edges});
const Choices<AxesPreset> kAxesPresets = choices({AxesPreset::kernel_smith, AxesPreset::behaviour});

/// In the order of AxisSpec::scale's alternatives.
enum class ScaleKind { linear, logarithmic, edges, categories };
const Choices<ScaleKind> kScales = {{"linear", ScaleKind::linear},
                                    {"logarithmic", ScaleKind::logarithmic},
                                    {"edges", ScaleKind::edges},
                                    {"categories", ScaleKind::categories}};
const std::array<decltype(AxisSpec::scale), 4> kEmptyScales = {LinearScale{}, LogarithmicScale{}, EdgeScale{},
                                                               CategoricalScale{}};

void list_version(Section& io) {
  std::uint64_t version = kVersion;
  io("version", version, {}, "the version of this format; any other is refused");
  if (version != kVersion)
    io.refuse("version", "this kernelsmith reads version 1, not " + std::to_string(version),
              "use the kernelsmith that wrote the file, or a newer one");
}

/// Omits absent limits when writing.
void list_budgets(Section& io, Budgets& budgets) {
  io.maybe("iterations", budgets.iterations, {1, UINT64_MAX},
           "the number of children that are asked for; then the run ends");
  io.maybe("evaluations", budgets.evaluations, {1, UINT64_MAX},
           "the number of evaluations; then the run ends");
  io.maybe("calls", budgets.calls, {1, UINT64_MAX},
           "the number of answers of models, agents or people, repairs included; then the run ends");
  io.maybe("wall_time_s", budgets.wall_s, {0.001, 1e9},
           "the wall time of the search, without preparing the evaluator and measuring the best again");
  io.by_default("60 without any budget, `deterministic`: 200 iterations");
  io.maybe("usd", budgets.usd, {1e-6, 1e9}, "the most that calls to models may cost (`docs/llm.md`)");
  io.maybe(
      "until_flat", budgets.until_flat, {1e-6, 100.0},
      "percent: the run ends when the remaining `evaluations` and `iterations` (without these budgets: as "
      "many evaluations as were made) are expected to raise the best by less");
}

// Axes.

struct ScaleFields {
  Section& io;

  void ranged(auto& scale) {
    io.needed("low", scale.low, {}, "`linear` and `logarithmic`: the lower end");
    io.needed("high", scale.high, {}, "the upper end");
    io.needed("bins", scale.bins, {1, Axis::kMaxBins}, "the number of bins between them");
  }
  void operator()(LinearScale& scale) { ranged(scale); }
  void operator()(LogarithmicScale& scale) { ranged(scale); }
  void operator()(EdgeScale& scale) {
    io.require("edges");
    io("edges", scale.edges, "`edges`: where the bins begin, and the last one ends");
  }
  void operator()(CategoricalScale& scale) {
    io.require("categories");
    io("categories", scale.categories, "`categories`: names, of which the feature is the index");
  }
};

void list_axis(Section& io, AxisSpec& axis) {
  auto kind = static_cast<ScaleKind>(axis.scale.index());
  io.needed("feature", axis.feature, "what it reads of a program");
  if (io("scale", kind, kScales, "how its bins lie"))
    axis.scale = kEmptyScales[static_cast<std::size_t>(kind)];
  if (io.tells())
    for (auto scale :
         {kEmptyScales[0], kEmptyScales[2], kEmptyScales[3]})  // the first two have the same keys
      std::visit(ScaleFields{io}, scale);
  else
    std::visit(ScaleFields{io}, axis.scale);
  if (!io.ok()) return;
  if (const auto valid = Axis::create(axis); !valid)
    io.refuse("feature", valid.error().message, valid.error().hint);
}

void list_axes_preset(Section& io, RunConfig& config) {
  AxesPreset preset = config.axes_preset.value_or(AxesPreset{});
  if (!io("axes", preset, kAxesPresets, "")) return;
  config.axes.reset();
  config.axes_preset = preset;
}

void list_archive(Section& io, RunConfig& config) {
  if (io.reader() ? io.reader()->kind("axes") == YamlKind::scalar : io.writes() && !config.axes)
    return list_axes_preset(io, config);
  auto axes = config.axes.value_or(std::vector<AxisSpec>());
  if (!io.maps("axes", axes, "by task",
               "a list, or a preset by its name: `kernel-smith` (length of the code and speedup) or "
               "`behaviour` (what "
               "the backend reports)",
               list_axis))
    return;
  config.axes_preset.reset();
  config.axes = std::move(axes);
  if (!io.ok()) return;
  if (const auto valid = Grid::create(*config.axes); !valid)
    io.refuse("axes", valid.error().where + ": " + valid.error().message, valid.error().hint);
}

// Islands.

void list_edge(Section& io, MigrationEdge& edge) {
  io.needed("from", edge.from.value, {0, Topology::kMaxIslands}, "an island, counted from 0");
  io.needed("to", edge.to.value, {0, Topology::kMaxIslands}, "the island that gets its elites");
}

void list_islands(Section& io, RunConfig& config) {
  io("count", config.islands, {1, Topology::kMaxIslands}, "how many");
  io("topology", config.topology, kTopologies, "from which island to which elites migrate");
  if (config.topology == TopologyKind::edges || io.tells())
    io.maps("edges", config.edges, "", "the edges of the topology `edges`", list_edge);
  io("rejections", config.island.rejections, {1, 100'000}, "rejected programs that an island remembers");
  io("recent_failures", config.island.recent_failures, {0, 100'000},
     "the latest rejected programs, which prompts can show");
  if (!io.ok()) return;
  if (const auto valid = topology_of(config); !valid)
    io.refuse("topology", valid.error().message, valid.error().hint);
}

// Choices among the kinds of the registry.

void list_evaluator(Section& io, const Registry& registry, Chosen<EvaluatorProvider>& chosen) {
  if (io.tells()) return list_choice(io, registry.evaluators, chosen, "the task's backend");
  std::string kind = chosen.kind;
  io("kind", kind, "");
  if (kind != chosen.kind)
    return io.refuse("kind", "the task's backend is " + chosen.kind,
                     "leave the key out, or change task.yaml");
  chosen.provider->settings(io);
}

/// The hint if the name is a word that people use for a language model.
std::optional<std::string_view> proposer_meant(std::string_view name) {
  constexpr std::array<std::string_view, 10> kModels = {"openai", "anthropic", "gpt",  "claude", "llm",
                                                        "model",  "ollama",    "vllm", "gemini", "deepseek"};
  const std::string small = lower_case(name);
  if (std::ranges::none_of(kModels, [&](std::string_view model) { return small.starts_with(model); }))
    return std::nullopt;
  return "--model NAME asks a language model; in run.yaml it is kind: chat with models: [{name: NAME}]";
}

void list_proposer(Section& io, const Registry& registry, RunConfig& config) {
  Chosen<ProposerProvider> chosen = config.proposer;
  list_choice(io, registry.proposers, chosen, "who proposes children", proposer_meant);
  if (io.ok() && chosen.kind != config.proposer.kind) take_proposer(std::move(chosen), config);
}

/// Turns the one-line text of the operators, from policy_texts(), into YAML with one key a line. Splits only
/// before a known key, because a model's name may contain the separator.
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

void list_limits(Section& io, RunConfig& config) {
  io("repairs", config.repairs, {0, 100}, "repairs in a row of a rejected child");
  io("duels", config.duels, {0, 100},
     "how many times a newcomer and the elite of its cell are timed side by side if their intervals overlap");
  io("tunings", config.tunings, {0, 1000},
     "tickets of `tune` that follow at once when a child that the tuner did not make is accepted and its "
     "structure was not tuned before; at most a quarter of the evaluations. `--model` and `--manual` set 4");
  io("confirm", config.confirm,
     "whether the best is measured again at the end, with up to three others that may be as good. If it is "
     "rejected, the next best takes its place");
  io("idle_iterations", config.idle_iterations, {1, 1'000'000'000},
     "how many iterations without anything new end the run. If only the tuner proposes, the run ends when no "
     "point is left");
  io("errors_in_a_row", config.error_limit, {1, 1'000'000}, "how many errors in a row end the run");
}

/// A run without a memory omits the key.
void list_memory(Section& io, MemorySettings& memory) {
  if (io.kept_path("store", memory.store, "a folder of rules across runs; without one there is no memory"))
    memory.is_stored = false;
  io("budget_tokens", memory.budget_tokens, {1, 1'000'000},
     "the most tokens of a prompt that its rules take");
  io("snapshot", memory.snapshot, "the digest of what the run read, which kernelsmith writes itself");
}

/// Advice for YamlAdvice: where a misplaced key belongs.
std::string belongs_to(const std::string& path, const Registry& registry) {
  if (path == "backend") return "the task's backend stands in its task.yaml, as backend: NAME";
  if (path.starts_with("archive.axes[")) return "the keys of an axis depend on its scale (docs/formats.md)";
  if (path == "model") return "--model NAME asks a language model (proposer.models)";
  const std::string section = path.substr(0, path.rfind('.') + 1), key = path.substr(section.size());
  const std::vector<SettingText> texts = setting_texts(registry);
  std::vector<std::string_view> of_kinds;
  for (const SettingText& text : texts)
    if (!text.of.empty() && text.key.starts_with(section))
      of_kinds.push_back(std::string_view(text.key).substr(section.size()));
  std::string kinds;
  if (const auto meant = section.empty() ? std::nullopt : nearest_name(key, of_kinds)) {
    for (const SettingText& text : texts)
      if (text.key == section + std::string(*meant)) kinds += (kinds.empty() ? "" : ", ") + text.of;
    return section + std::string(*meant) + " is a key of kind: " + kinds +
           (kinds == "chat" ? "; --model NAME makes it one" : "");
  }
  for (const SettingText& text : texts)
    if (text.key == path) return path + " is " + text.meaning;
  for (const SettingText& text : texts)
    if (text.key.ends_with("." + key)) return "did you mean " + text.key + "?";
  return "";
}

/// Uses `registry` only to read and to describe, not to write.
void list_config(Section& io, RunConfig& config, const Registry& registry) {
  const bool has_memory = !config.memory.store.empty() || !config.memory.snapshot.empty();
  list_version(io);
  io("seed", config.seed, {}, "the seed of all random numbers");
  io("deterministic", config.deterministic, "the same archive with any number of workers; no `wall_time_s`");
  io("pipeline", config.pipeline, {1, 1'000'000},
     "`deterministic`: a ticket samples the state as it was this many tickets earlier");
  io("workers", config.workers, {1, 1024}, "evaluations in flight");
  io.by_default("the cores");
  io("durability", config.durability, kDurabilities,
     "what a commit survives: the end of the process (SIGKILL), or also a power failure");
  io.map("budgets", [&](Section& budgets) { list_budgets(budgets, config.budgets); });
  if (!io.writes() || config.axes || config.axes_preset)
    io.map("archive", [&](Section& archive) { list_archive(archive, config); });
  list_objectives(io, config.objectives);
  io.map("islands", [&](Section& islands) { list_islands(islands, config); });
  io.map("migration", [&](Section& migration) {
    migration("period", config.migration_period, {1e-6, 1.0},
              "between migrations, as a fraction of the budget");
    list_choice(migration, registry.migrations, config.migration, "which elites migrate");
  });
  io.map("sampler", [&](Section& sampler) {
    list_choice(sampler, registry.samplers, config.sampler,
                "how parents are chosen (`docs/search-quality.md`)");
  });
  io.map("proposer", [&](Section& proposer) { list_proposer(proposer, registry, config); });
  list_operators(io, config);
  io.map("limits", [&](Section& limits) { list_limits(limits, config); });
  io.map("evaluator", [&](Section& evaluator) { list_evaluator(evaluator, registry, config.evaluator); });
  if (!io.writes() || has_memory)
    io.map("memory", [&](Section& memory) { list_memory(memory, config.memory); });
}

/// The YAML of a section's keys on one line.
std::string line_of(const Section::Body& list) {
  YamlWriter out;
  Section section(out);
  list(section);
  std::string text = out.finish();
  while (text.ends_with('\n')) text.pop_back();
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', end))
    text.replace(end, 1, ", ");
  return text;
}

}  // namespace

Status read_config(std::string_view yaml, const std::string& file, const Registry& registry,
                   RunConfig& config) {
  return read_yaml(
      yaml, file,
      [&](YamlMap& in) {
        Section io(in);
        list_config(io, config, registry);
      },
      [&](const std::string& path) { return belongs_to(path, registry); });
}

std::vector<SettingText> setting_texts(const Registry& registry) {
  Task task;
  task.backend = registry.evaluators.begin()->first;
  auto config = default_config(task, registry);
  std::vector<SettingText> texts;
  if (!config) return texts;
  Section io(texts);
  list_config(io, *config, registry);
  std::ranges::find(texts, "evaluator.kind", &SettingText::key)->usual = "by task";
  return texts;
}

std::map<std::string, std::string> policy_texts(const RunConfig& of) {
  RunConfig config = of;
  const auto choice = [](auto& chosen) {
    return line_of([&](Section& io) { list_choice(io, {}, chosen, ""); });
  };
  return {{"migration", choice(config.migration)},
          {"sampler", choice(config.sampler)},
          {"proposer", choice(config.proposer)},
          {"operators", line_of([&](Section& io) { list_operators(io, config); })}};
}

Status read_policy(const std::string& name, const std::string& text, RunConfig& config) {
  const bool is_sampler = name == "sampler" && text.starts_with("kind: ");
  if (!is_sampler && name != "operators")
    return fail(ErrorCode::corrupt, "the journal's setting cannot be read: \"" + text + "\"", name);
  if (is_sampler) {
    config.sampler = {};  // its provider is shared with copies of the configuration
  } else {
    config.operators.clear();
    config.arm_cost.reset();
  }
  const Registry registry = default_registry();
  return read_yaml(is_sampler ? "sampler: {" + text + "}\n" : as_block(text), name, [&](YamlMap& in) {
    Section io(in);
    if (!is_sampler) return list_operators(io, config);
    io.map("sampler", [&](Section& map) { list_choice(map, registry.samplers, config.sampler, ""); });
  });
}

std::string to_yaml(const RunConfig& config) {
  RunConfig copy = config;
  YamlWriter out;
  out.comment("How the task is searched, with every default written out. docs/formats.md explains the keys.");
  Section io(out);
  list_config(io, copy, {});
  return out.finish();
}

}  // namespace kernelsmith
