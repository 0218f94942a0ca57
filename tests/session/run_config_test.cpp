#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/islands/sampler.hpp>
#include <kernelsmith/session/run_config.hpp>

#include "notices.hpp"

namespace kernelsmith {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Task task_with_seed(const std::string& seed) {
  Task task;
  task.name = "toy";
  task.backend = "cpu";
  task.seed = Source::create({{"seed.cpp", seed}}).value();
  return task;
}

const std::string kKnobs =
    "constexpr int kSmall = 1;  // @tune 1 2\n"
    "constexpr int kTile = 8;   // @tune 4 8 16 32\n"
    "constexpr int kUnroll = 2; // @tune 1 2 4\n";

RunConfig defaults() { return default_config(task_with_seed(kKnobs), default_registry()).value(); }

Status lay(RunConfig& config, std::string_view yaml) {
  return read_config(yaml, "run.yaml", default_registry(), config);
}

/// The defaults with these keys laid over them.
RunConfig config_from(const std::string& yaml) {
  RunConfig config = defaults();
  const Status read = lay(config, yaml);
  EXPECT_TRUE(read) << describe(read.error()) << "\n" << yaml;
  return config;
}

/// What is said about a configuration that is refused.
Error refusal(const std::string& yaml) {
  RunConfig config = defaults();
  const Status read = lay(config, yaml);
  EXPECT_FALSE(read) << yaml;
  return read ? Error{} : read.error();
}

TEST(RunConfig, OperatorsNameModelsThatThereAre) {
  const Error error = refusal(
      "proposer: {kind: chat, models: [{name: large}, {name: small}]}\n"
      "operators:\n"
      "  - {operator: rewrite, model: large}\n"
      "  - {operator: edit, model: smal}\n");
  EXPECT_THAT(error.message, HasSubstr("\"smal\""));
  EXPECT_EQ(error.where, "run.yaml:4");
  EXPECT_EQ(error.hint, "did you mean small?");
}

TEST(RunConfig, ReadsBackWhatItWrites) {
  const std::string other =
      "version: 1\nseed: 9\ndeterministic: true\npipeline: 3\nworkers: 7\ndurability: power\n"
      "budgets: {iterations: 10, evaluations: 20, wall_time_s: 0.1}\n"
      "archive:\n  axes:\n"
      "    - {feature: a, low: 0, high: 1, bins: 3}\n"
      "    - {feature: b, scale: logarithmic, low: 1, high: 8, bins: 3}\n"
      "    - {feature: c, scale: edges, edges: [1, 2, 5.5]}\n"
      "    - {feature: d, scale: categories, categories: [x, '1', 'no']}\n"
      "islands: {count: 3, topology: edges, edges: [{from: 0, to: 2}], rejections: 5, recent_failures: 6}\n"
      "migration: {kind: weighted, period: 0.25, count: 2}\n"
      "sampler: {kind: mixture, explore: 0.1, exploit: 0.2, weighted: 0.3, elite_fraction: 0.5, top: 1}\n"
      "proposer: {kind: tuner, exhaustive: true}\n"
      "operators: [{operator: tune, weight: 2}, {operator: rewrite, model: m}]\n"
      "limits: {repairs: 1, duels: 0, tunings: 3, confirm: false, idle_iterations: 4, errors_in_a_row: 2}\n"
      "evaluator: {kind: cpu, compiler: clang++, flags: [-O2], sandbox: none, bank_mib: 12}\n";
  const RunConfig config = config_from(other);
  const std::string written = to_yaml(config);
  const RunConfig again = config_from(written);
  EXPECT_EQ(to_yaml(again), written);
  EXPECT_NE(written, to_yaml(defaults()));
  EXPECT_EQ(again.axes, config.axes);
  EXPECT_EQ(again.budgets, (Budgets{10, 20, 0.1}));
  EXPECT_EQ(again.topology, TopologyKind::edges);
  EXPECT_EQ(again.durability, Durability::power);
}

/// The journal of a deterministic run holds them, so that the run could not be shown without.
TEST(RunConfig, KeepsTheWeightsThatOlderTunersHad) {
  RunConfig config =
      config_from("proposer: {kind: tuner, crossover: 0.25, local_step: 0.45, mutation: 0.3, draws: 64}\n");
  EXPECT_EQ(policy_texts(config).at("proposer"),
            "kind: tuner, crossover: 0.25, local_step: 0.45, mutation: 0.3, draws: 64");
  const auto listener = std::make_shared<Notices>();
  const Task task = task_with_seed(kKnobs);
  config.proposer.provider->context.observer = listener;
  ASSERT_TRUE(config.proposer.provider->make(task, {}));
  EXPECT_THAT(listener->text(), AllOf(HasSubstr("no effect"), HasSubstr("proposer.draws")));
  const auto silent = std::make_shared<Notices>();
  const RunConfig usual = defaults();
  usual.proposer.provider->context.observer = silent;
  ASSERT_TRUE(usual.proposer.provider->make(task, {}));
  EXPECT_EQ(silent->text(), "");
}

TEST(RunConfig, AnExhaustiveSearchTakesNoSpaceThatItCannotRemember) {
  std::string many = "int a = 1;  // @tune";
  for (int i = 1; i <= 300; ++i) many += " " + std::to_string(i);
  many += "\n";
  Task task = task_with_seed(many + many);
  RunConfig config = default_config(task, default_registry()).value();
  EXPECT_TRUE(config.proposer.provider->make(task, {}));
  ASSERT_TRUE(lay(config, "proposer: {exhaustive: true}\n"));
  const auto made = config.proposer.provider->make(task, {});
  ASSERT_FALSE(made);
  EXPECT_THAT(describe(made.error()), AllOf(HasSubstr("65536"), HasSubstr("--exhaustive")));
  EXPECT_TRUE(config.proposer.provider->make(task_with_seed(many), {}));
}

TEST(RunConfig, WritesEveryDefault) {
  RunConfig config = defaults();
  set_default_axes(task_with_seed(kKnobs), config);
  const std::string text = to_yaml(config);
  for (const char* key : {"version:",         "seed:",
                          "deterministic:",   "pipeline:",
                          "workers:",         "durability:",
                          "budgets:",         "axes:",
                          "count:",           "topology:",
                          "rejections:",      "recent_failures:",
                          "period:",          "exploration:",
                          "opening:",         "top:",
                          "inspirations:",    "failures:",
                          "exhaustive:",      "operator:",
                          "repairs:",         "duels:",
                          "tunings:",         "confirm:",
                          "idle_iterations:", "errors_in_a_row:",
                          "compiler:",        "flags:",
                          "sandbox:",         "bank_mib:"})
    EXPECT_THAT(text, HasSubstr(key));
}

TEST(RunConfig, RefusesUnknownKeysWithTheNearestName) {
  EXPECT_THAT(describe(refusal("version: 1\nwokers: 3\n")),
              AllOf(HasSubstr("run.yaml:2"), HasSubstr("workers")));
  EXPECT_THAT(describe(refusal("sampler:\n  openign: 1\n")),
              AllOf(HasSubstr("run.yaml:2"), HasSubstr("opening")));
  EXPECT_THAT(describe(refusal("proposer: {kind: tunner}\n")), HasSubstr("tuner"));
  EXPECT_THAT(describe(refusal("migration: {count: 1, colour: red}\n")), HasSubstr("colour"));
}

TEST(RunConfig, RefusesValuesThatMakeNoSense) {
  for (const char* const yaml :
       {"version: 2", "workers: 0", "budgets: {iterations: 0}",
        "archive: {axes: [{feature: a, low: 1, high: 0, bins: 3}]}",
        "islands: {count: 2, topology: edges, edges: [{from: 0, to: 2}]}",
        "sampler: {kind: mixture, explore: 0, exploit: 0, weighted: 0}", "sampler: {exploration: -1}",
        "proposer: {exhaustive: 2}", "operators: []", "evaluator: {kind: command}"})
    EXPECT_EQ(refusal(yaml).code, ErrorCode::bad_input) << yaml;
}

const std::string kTwoModels = "proposer: {kind: chat, models: [{name: large}, {name: small}]}\n";

TEST(RunConfig, OperatorsMayBeChosenByABandit) {
  const std::string yaml = kTwoModels +
                           "operators:\n  choose: bandit\n  cost: tokens\n  arms:\n"
                           "    - {operator: rewrite, model: large}\n"
                           "    - {operator: edit, model: small, weight: 0}\n"
                           "    - {operator: edit, model: large}\n";
  const RunConfig config = config_from(yaml);
  EXPECT_EQ(config.choose_operators, OperatorPolicy::bandit);
  EXPECT_EQ(config.arm_cost, ArmCost::tokens);
  RunConfig again = config_from(to_yaml(config));
  EXPECT_EQ(to_yaml(again), to_yaml(config));
  EXPECT_NE(policy_texts(config).at("operators").find("bandit"), std::string::npos);
  const auto bandit = operators_of(config).value();
  const ArmRecord nothing;
  for (std::uint64_t ticket = 0; ticket < 50; ++ticket) {
    Rng rng(1, ticket, Purpose::operators);
    EXPECT_EQ(bandit->choose({.selection = {}, .arms = nothing}, rng).model, "large") << "weight 0";
  }
}

TEST(RunConfig, APolicyIsReadBackFromTheLineThatASessionRecorded) {
  const std::string models =
      "proposer: {kind: chat, models: [{name: 'a, b: \"c\"'}, {name: 'small, fast'}]}\n";
  for (const char* policies :
       {"operators: [{operator: edit, model: 'a, b: \"c\"', weight: 0.1}, {operator: rewrite, model: 'small, "
        "fast'}]\n",
        "operators: {choose: bandit, cost: tokens, arms: [{operator: edit, model: 'small, fast'}]}\n"
        "sampler: {kind: mixture, explore: 0.125, top: 0}\n",
        "operators: [{operator: tune}]\nsampler: {exploration: 3}\n"}) {
    RunConfig recorded = defaults(), read = defaults();
    ASSERT_TRUE(lay(recorded, models + policies)) << policies;
    ASSERT_TRUE(
        lay(read, "operators: {choose: bandit, cost: tries, arms: [{operator: tune}]}\nsampler: {top: 7}\n"));
    const RunConfig untouched = read;
    const auto own = policy_texts(untouched), texts = policy_texts(recorded);
    for (const std::string name : kPolicySettings) {
      const Status status = read_policy(name, texts.at(name), read);
      EXPECT_TRUE(status) << texts.at(name) << "\n" << describe(status.error());
      EXPECT_EQ(policy_texts(read).at(name), texts.at(name));
      EXPECT_EQ(policy_texts(untouched).at(name), own.at(name)) << "they share no provider";
    }
  }
  for (const char* text :
       {"", "exploration: 1", "kind: none", "kind: tree, exploration: x", "kind: tree}\nseed: 5"}) {
    RunConfig read = defaults();
    EXPECT_FALSE(read_policy("sampler", text, read)) << text;
  }
}

TEST(RunConfig, ATreeOfAnEarlierRunKnowsNoCells) {
  const Grid grid = Grid::create({{"a", LinearScale{0, 100, 100}}}).value();
  const auto parents_of = [&](const Sampler& sampler) {
    Island island(grid);
    for (std::uint64_t k = 0; k < 20; ++k) {
      const auto value = static_cast<double>(k);
      const Acceptance accepted{Metrics::create(Measurement::exact(value), {{"a", value}}).value(), {}};
      const Program program{ProgramId{k}, {}, {}, Origin::rewrite};
      island.add(
          std::make_shared<const Individual>(Individual{std::make_shared<const Program>(program), accepted}));
    }
    std::vector<std::uint64_t> parents;
    for (std::uint64_t i = 0; i < 200; ++i) {
      Rng rng(1, i, Purpose::sampling);
      const ProgramId parent = sampler.sample(island, rng).parent->program->id;
      parents.push_back(parent.value);
      island.visit(parent);
    }
    return parents;
  };
  const Registry registry = default_registry();
  const auto named = [&](const char* kind) {
    return parents_of(**registry.samplers.at(kind)()->make(task_with_seed(kKnobs), {}));
  };
  EXPECT_EQ(named("tree"), parents_of(TreeSampler::create({.uniform = 0}).value()));
  EXPECT_EQ(named("cells"), parents_of(TreeSampler::create().value()));
  EXPECT_NE(named("tree"), named("cells"));
}

TEST(RunConfig, TheBanditTakesTheArmsThatThereAreAndAListIsWeightsAgain) {
  RunConfig config = config_from(kTwoModels);
  const std::size_t arms = config.operators.size();
  ASSERT_TRUE(lay(config, "operators: {choose: bandit}\n"));
  EXPECT_EQ(config.operators.size(), arms);
  EXPECT_EQ(config.choose_operators, OperatorPolicy::bandit);
  ASSERT_TRUE(lay(config, "operators: [{operator: edit}]\n"));
  EXPECT_EQ(config.choose_operators, OperatorPolicy::weights);
}

TEST(RunConfig, ABanditThatCannotChooseIsRefusedOnce) {
  const auto message = [](const std::string& operators) { return refusal(kTwoModels + operators).message; };
  EXPECT_THAT(message("operators: {choose: ucb}\n"), HasSubstr("ucb"));
  EXPECT_THAT(message("operators: {choose: bandit, cost: euros}\n"), HasSubstr("euros"));
  EXPECT_THAT(message("operators: {cost: tries}\n"), HasSubstr("only the bandit"));
  EXPECT_THAT(message("operators: {choose: bandit, arms: [{operator: edit, weight: 2}]}\n"),
              HasSubstr("0 or 1"));
  EXPECT_THAT(message("operators: {choose: bandit, arms: [{operator: edit}, {operator: edit}]}\n"),
              HasSubstr("edit twice"));
  EXPECT_THAT(message("operators: {choose: bandit, arms: []}\n"), HasSubstr("other than crossover"));
  EXPECT_THAT(message("operators: {choose: bandit, arm: []}\n"), HasSubstr("arm"));
  EXPECT_THAT(message("operators: bandit\n"), HasSubstr("list"));
}

TEST(RunConfig, ACostInDollarsNeedsPrices) {
  RunConfig config = config_from(kTwoModels + "operators: {choose: bandit, cost: usd}\n");
  const Status checked = check_operators(config);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().where, "operators.cost");
  EXPECT_THAT(checked.error().message, HasSubstr("\"large\""));
}

TEST(RunConfig, AnotherProposerBringsItsOwnOperators) {
  EXPECT_EQ(defaults().operators.front().choice.op, Operator::tune);
  const RunConfig recording = config_from("proposer: {kind: recording, run: a.run}\n");
  EXPECT_EQ(recording.operators.front().choice.op, Operator::rewrite);
}

TEST(RunConfig, UnknownBackendsAreNamed) {
  Task task = task_with_seed(kKnobs);
  task.backend = "cpuu";
  const auto config = default_config(task, default_registry());
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::unsupported);
  EXPECT_THAT(config.error().hint, HasSubstr("cpu"));
}

std::vector<AxisSpec> default_axes(const Task& task, std::string_view yaml = "seed: 1\n") {
  RunConfig config = default_config(task, default_registry()).value();
  lay(config, yaml).value();
  set_default_axes(task, config);
  return *config.axes;
}

TEST(DefaultAxes, AreTheKnobsWithTheMostValuesWhereASearchOnlyTunes) {
  const auto axes = default_axes(task_with_seed(kKnobs));
  ASSERT_EQ(axes.size(), 2u);
  EXPECT_EQ(axes[0].feature, "knob.kTile");
  EXPECT_EQ(axes[0].scale, (decltype(axes[0].scale){CategoricalScale{{"4", "8", "16", "32"}}}));
  EXPECT_EQ(axes[1].feature, "knob.kUnroll");
  const auto features = source_features(task_with_seed(kKnobs).seed, axes);
  EXPECT_EQ(features.at("knob.kTile"), 1);
  EXPECT_EQ(features.at("knob.kUnroll"), 1);
}

TEST(DefaultAxes, LeaveOutKnobsThatCannotBeToldApart) {
  const auto axes =
      default_axes(task_with_seed("int a = 1;  // @tune 1 2\nint a = 1;  // @tune 1 2\n"
                                  "int b = 1;  // @tune 1 2\n"));
  ASSERT_EQ(axes.size(), 1u);
  EXPECT_EQ(axes[0].feature, "knob.b");
}

TEST(DefaultAxes, AreTheBehaviourWhereThereIsNoKnob) {
  const Task task = task_with_seed("int f() { return 1; }\n");
  EXPECT_EQ(default_axes(task), default_axes(task, "archive: {axes: behaviour}\n"));
}

TEST(DefaultAxes, AreTheBehaviourWithAModel) {
  const Task task = task_with_seed(kKnobs);
  EXPECT_EQ(default_axes(task, "proposer: {kind: chat, models: [{name: m}]}\n"),
            default_axes(task, "archive: {axes: behaviour}\n"));
}

TEST(AxesPresets, KernelSmithIsTheLengthOfTheCodeBesideTheFitness) {
  const Task task = task_with_seed(kKnobs);
  const auto axes = default_axes(task, "archive: {axes: kernel-smith}\n");
  ASSERT_EQ(axes.size(), 2u);
  EXPECT_EQ(axes[0].feature, "bytes");
  EXPECT_EQ(axes[1].feature, "fitness");
  const auto grid = Grid::create(axes).value();
  EXPECT_EQ(grid.cells(), 100u);
  const double own = static_cast<double>(task.seed.bytes());
  EXPECT_EQ(grid.axes()[0].bin_of(own), grid.axes()[0].bin_of(own * 1.01)) << "not at an edge";
}

TEST(AxesPresets, BehaviourIsWhatTheBackendReportsOrTheTextShows) {
  for (const auto& [backend, features] : std::map<std::string, std::vector<std::string>>{
           {"cpu", {"max_nesting", "loops", "calls"}},
           {"command", {"max_nesting", "loops", "calls"}},
           {"cuda", {"shared_bytes", "registers", "tensor_cores"}},
           {"torch", {"shared_bytes", "registers", "own_kernels"}}}) {
    Task task = task_with_seed(kKnobs);
    task.backend = backend;
    const auto axes = default_axes(task, "archive: {axes: behaviour}\n");
    EXPECT_TRUE(Grid::create(axes)) << backend;
    std::vector<std::string> named;
    for (const AxisSpec& axis : axes) named.push_back(axis.feature);
    EXPECT_EQ(named, features) << backend;
  }
}

TEST(AxesPresets, AreWrittenByNameUntilTheTaskIsKnown) {
  RunConfig config = config_from("archive: {axes: kernel-smith}\n");
  RunConfig again = config_from(to_yaml(config));
  EXPECT_EQ(again.axes_preset, AxesPreset::kernel_smith);
  set_default_axes(task_with_seed(kKnobs), again);
  RunConfig stored = config_from(to_yaml(again));
  EXPECT_EQ(stored.axes, again.axes) << "a run keeps the axes, whatever a later build calls so";
}

TEST(AxesPresets, WhatComesLaterCounts) {
  RunConfig config = defaults();
  const auto read = [&](const char* yaml) { ASSERT_TRUE(lay(config, yaml)); };
  read("archive: {axes: [{feature: a, low: 0, high: 1, bins: 3}]}\n");
  read("archive: {axes: behaviour}\n");
  EXPECT_FALSE(config.axes);
  read("archive: {axes: [{feature: a, low: 0, high: 1, bins: 3}]}\n");
  EXPECT_FALSE(config.axes_preset);
  EXPECT_EQ(config.axes->front().feature, "a");
  EXPECT_EQ(refusal("archive: {axes: kernelsmith}\n").hint, "did you mean kernel-smith?");
}

Objectives objectives_of(const std::string& yaml) {
  const RunConfig config = config_from(yaml);
  EXPECT_EQ(config_from(to_yaml(config)).objectives, config.objectives) << to_yaml(config);
  return config.objectives;
}

TEST(ObjectivesOfARun, AreAListOrAListUnderARule) {
  EXPECT_EQ(objectives_of("objectives: [speedup, peak_memory]\n").to_text(),
            "pareto max \"fitness\" min \"peak_memory\"");
  EXPECT_EQ(objectives_of("objectives: {pareto: [speedup, min registers]}\n").to_text(),
            "pareto max \"fitness\" min \"registers\"");
  EXPECT_EQ(objectives_of("objectives: {lexicographic: [max own_share, fitness]}\n").to_text(),
            "lexicographic max \"own_share\" max \"fitness\"");
  EXPECT_EQ(objectives_of("objectives: [speedup]\n"), Objectives());
  EXPECT_THAT(to_yaml(defaults()), testing::Not(HasSubstr("objectives")));
}

TEST(ObjectivesOfARun, SayWhatIsWrongWithThem) {
  EXPECT_THAT(
      describe(refusal("seed: 1\nobjectives: [speedup, registers]\n")),
      AllOf(HasSubstr("run.yaml:2"), HasSubstr("'registers' is better"), HasSubstr("\"min registers\"")));
  EXPECT_THAT(describe(refusal("objectives: [peak_memory]\n")), HasSubstr("the speedup is not among them"));
  EXPECT_THAT(describe(refusal("objectives: []\n")), HasSubstr("no objective"));
  EXPECT_THAT(describe(refusal("objectives: {}\n")), HasSubstr("exactly one rule is needed"));
  EXPECT_THAT(describe(refusal("objectives: {lexicografic: [speedup]}\n")), HasSubstr("lexicographic"));
  EXPECT_THAT(describe(refusal("objectives: {pareto: [speedup], lexicographic: [speedup]}\n")),
              HasSubstr("exactly one rule is needed"));
  EXPECT_THAT(describe(refusal("objectives: [speedup, fitness]\n")), HasSubstr("'fitness' is named twice"));
  EXPECT_THAT(describe(refusal("objectives: [min speedup]\n")), HasSubstr("a higher fitness is the better"));
}

TEST(DefaultAxes, GiveWayToThoseThatAreNamed) {
  EXPECT_TRUE(default_axes(task_with_seed(kKnobs), "archive: {axes: []}\n").empty());
}

/// Where the seed's axes have a source whose knob is written so.
double place_of(const std::string& knob) {
  const auto axes = default_axes(task_with_seed("int kTile = 8;  // @tune 1 2 4 8 16 32\n"));
  return source_features(task_with_seed("int kTile = " + knob + "\n").seed, axes).at("knob.kTile");
}

TEST(KnobFeatures, AreMappedToTheAxisByValue) {
  EXPECT_EQ(place_of("8;  // @tune 8 16 32"), 3) << "whatever a model lists";
  EXPECT_EQ(place_of("0x10;  // @tune 0x10"), 4);
  EXPECT_EQ(place_of("64;  // @tune 64 128"), 5) << "past the end: the nearest edge";
  EXPECT_EQ(place_of("0;  // @tune 0 1"), 0);
  EXPECT_EQ(place_of("10;  // @tune 10"), 3);
}

TEST(KnobFeatures, AreTheValueWhereNoAxisListsIt) {
  const std::vector<AxisSpec> linear{{"knob.kTile", LinearScale{0, 64, 8}}};
  EXPECT_EQ(source_features(task_with_seed("int kTile = 8;  // @tune 8 16\n").seed, linear).at("knob.kTile"),
            8);
  const auto source = task_with_seed("auto kOrder = row;  // @tune row column\n").seed;
  EXPECT_FALSE(source_features(source, {}).contains("knob.kOrder"));
}

TEST(DefaultBudget, IsSetOnlyWhereThereIsNone) {
  RunConfig config = defaults();
  set_default_budget(config);
  EXPECT_EQ(config.budgets, (Budgets{{}, {}, 60.0}));
  config = defaults();
  config.deterministic = true;
  set_default_budget(config);
  EXPECT_EQ(config.budgets, (Budgets{200, {}, {}}));
  config.budgets = {5, {}, {}};
  set_default_budget(config);
  EXPECT_EQ(config.budgets, (Budgets{5, {}, {}}));
  config.budgets = {.iterations = {}, .evaluations = {}, .wall_s = {}, .calls = 7};
  set_default_budget(config);
  EXPECT_EQ(config.budgets.iterations, 200u) << "the tuner makes no calls";
}

}  // namespace
}  // namespace kernelsmith
