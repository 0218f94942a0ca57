// Reads and writes the key `objectives` of run.yaml.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sections.hpp"

namespace kernelsmith {
namespace {

constexpr const char* kKey = "objectives";

/// Features that are always minimised.
constexpr std::array<std::string_view, 10> kCosts = {"peak_memory", "compile_ms", "runtime_us", "spill_bytes",
                                                     "launches",    "aten_ops",   "bytes",      "lines",
                                                     "tokens",      "complexity"};

/// Parses an objective such as "speedup" or "min registers". Refuses a name without `min` or `max` if its
/// better direction is not known.
Objective objective_of(YamlMap& in, std::string_view key, const std::string& words) {
  const bool minimise = words.starts_with("min "), told = minimise || words.starts_with("max ");
  std::string name = told ? words.substr(4) : words;
  if (name == "speedup") name = "fitness";
  if (told || name == "fitness") return {name, minimise};
  if (std::ranges::find(kCosts, name) == kCosts.end())
    in.refuse(key, "it is not known whether less or more of '" + name + "' is better",
              "write \"min " + name + "\" or \"max " + name + "\"");
  return {name, true};
}

void read_list(YamlMap& in, std::string_view key, ObjectiveRule rule, Objectives& objectives) {
  std::vector<std::string> names;
  in.required(key, names);
  std::vector<Objective> list;
  for (const std::string& name : names) list.push_back(objective_of(in, key, name));
  if (!in.ok()) return;
  auto made = Objectives::create(std::move(list), rule);
  if (!made) return in.refuse(key, made.error().message, made.error().hint);
  objectives = std::move(*made);
}

void read_objectives(YamlMap& in, Objectives& objectives) {
  if (in.kind(kKey) != YamlKind::map) return read_list(in, kKey, ObjectiveRule::pareto, objectives);
  in.optional_map(kKey, [&](YamlMap& rules) {
    if (rules.keys().size() != 1)
      rules.refuse({}, "exactly one rule is needed", "objectives: {lexicographic: [speedup, peak_memory]}");
    for (const ObjectiveRule rule : {ObjectiveRule::pareto, ObjectiveRule::lexicographic})
      if (rules.kind(name_of(rule)) != YamlKind::absent) read_list(rules, name_of(rule), rule, objectives);
  });
}

/// Writes nothing if fitness is the only objective, so that run.yaml stays as older builds wrote it.
void write_objectives(YamlWriter& out, const Objectives& objectives) {
  if (!objectives.several()) return;
  std::vector<std::string> names;
  for (const auto& [feature, minimise] : objectives.list())
    names.push_back((minimise ? "min " : "max ") + feature);
  out.map(kKey, [&](YamlWriter& map) { map.put(name_of(objectives.rule()), names); });
}

}  // namespace

void list_objectives(Section& run, Objectives& objectives) {
  run.other(
      kKey, "a list of texts", "`[speedup]`", "what is searched for; it cannot change within a run",
      [&](YamlMap& in) { read_objectives(in, objectives); },
      [&](YamlWriter& out) { write_objectives(out, objectives); });
}

}  // namespace kernelsmith
