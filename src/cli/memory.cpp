// kernelsmith memory list|show|forget|export|merge|learn
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/memory/memory_store.hpp>
#include <kernelsmith/session/learn_run.hpp>

#include "commands.hpp"
#include "say.hpp"
#include "text.hpp"

namespace kernelsmith::cli {
namespace {

constexpr std::size_t kLargestExport = std::size_t{64} << 20;

struct Words {
  std::string store, other;  ///< the memory's folder; a rule's id, a file or a run folder
};

/// Opens a memory that exists. Only commands that add rules create the folder, so that a misspelt name does
/// not look like an empty memory.
Result<MemoryStore> existing(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored))
    return fail(ErrorCode::not_found, "no memory is there", folder, "'kernelsmith memory learn' makes one");
  return MemoryStore::open(folder);
}

Status list(const Words& words) {
  const auto store = existing(words.store);
  if (!store) return store.error();
  const auto rules = store->rules();
  if (!rules) return rules.error();
  for (const MemoryRule& rule : *rules)
    say("{}  {:<8}  {:<8}  {:>3}  helped {} of {}  {}{}\n", rule.id(), name_of(rule.kind), rule.backend,
        rule.evidence.size(), rule.helped(), rule.uses.size(), rule.expired() ? "(expired) " : "",
        summary_of(rule));
  say("{}\n", number_text(rules->size(), "rule"));
  return {};
}

Status show(const Words& words) {
  const auto store = existing(words.store);
  if (!store) return store.error();
  const auto rules = store->rules();
  if (!rules) return rules.error();
  const auto rule = std::ranges::find(*rules, words.other, &MemoryRule::id);
  if (rule == rules->end())
    return fail(ErrorCode::not_found, "no rule " + words.other, words.store, "'memory list' shows the ids");
  say("{} {} on {}{}\n\n{}{}{}\n\n", name_of(rule->kind), rule->id(), rule->backend,
      rule->expired() ? ", expired" : "", rule->about, rule->about.empty() ? "" : "\n\n", rule->text);
  for (const Evidence& one : rule->evidence)
    say("run {} program {} task {}{}{}\n", one.run, one.program, one.task.substr(0, 16),
        one.hardware.empty() ? "" : " on " + one.hardware, one.gain ? ": " + text_of(*one.gain) : "");
  say("shown to {}, helped {}\n", number_text(rule->uses.size(), "run"), rule->helped());
  return {};
}

Status forget(const Words& words) {
  const auto store = existing(words.store);
  return store ? store->forget(words.other) : store.error();
}

Status print_all(const Words& words) {
  const auto store = existing(words.store);
  if (!store) return store.error();
  const auto rules = store->rules();
  if (!rules) return rules.error();
  for (const MemoryRule& rule : *rules) std::cout << to_line(rule) << '\n';
  return {};
}

Status add(const std::string& folder, const Learnt& learnt) {
  const auto store = MemoryStore::open(folder);
  if (!store) return store.error();
  const auto added = store->add(learnt);
  if (!added) return added.error();
  say("{}, {} new\n", number_text(learnt.rules.size(), "rule"), *added);
  return {};
}

Status merge(const Words& words) {
  const auto text = read_regular_file(words.other, kLargestExport);
  if (!text) return text.error();
  const auto rules = rules_from(*text, words.other);
  return rules ? add(words.store, {*rules, {}}) : rules.error();
}

Status learn_from(const Words& words) {
  const auto view = view_run(words.other, default_registry());
  if (!view) return view.error();
  const auto learnt = learn_run(*view);
  return learnt ? add(words.store, *learnt) : learnt.error();
}

void add_verb(CLI::App& memory, Command& chosen, const char* verb, const char* what, const char* other,
              const char* about, Status (*work)(const Words&)) {
  auto words = std::make_shared<Words>();
  CLI::App* command = memory.add_subcommand(verb, what);
  command->add_option("STORE", words->store, "The memory's folder")->required();
  if (other) command->add_option(other, words->other, about)->required();
  command->callback([words, work, &chosen] {
    chosen = [words, work] {
      const Status done = work(*words);
      return done ? kDone : report(stderr, done.error());
    };
  });
}

}  // namespace

void add_memory(CLI::App& app, Command& chosen) {
  CLI::App* memory =
      app.add_subcommand("memory", "Rules across runs: learn, list, show, forget, export, merge");
  memory->require_subcommand(1);
  add_verb(*memory, chosen, "list", "Print each rule's id, kind, backend, verdicts, uses and text", nullptr,
           nullptr, list);
  add_verb(*memory, chosen, "show", "Print a rule with its evidence", "RULE", "Its id", show);
  add_verb(*memory, chosen, "forget", "Remove a rule", "RULE", "Its id", forget);
  add_verb(*memory, chosen, "export", "Print all rules as JSON lines", nullptr, nullptr, print_all);
  add_verb(*memory, chosen, "merge", "Add the rules of an export", "FILE", "The output of `memory export`",
           merge);
  add_verb(*memory, chosen, "learn", "Add the rules that an ended run teaches; a second call adds nothing",
           "RUN", "The run folder", learn_from);
  memory->footer(
      "A run uses a memory that its run.yaml names: run --set memory.store=STORE (docs/memory.md).");
}

}  // namespace kernelsmith::cli
