// Simulated tasks for tests of memory. A candidate is one line, `choice = NAME`, with one of 256 names, and
// one of them triples the speed. The proposer tries what the notes in its prompt say, then every name in an
// order of the task's own.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/core/blocking.hpp>
#include <kernelsmith/core/rng.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/session/session.hpp>

namespace kernelsmith::family {

inline constexpr std::size_t kNames = 256;

inline std::string line_of(const std::string& name) { return "choice = " + name + "\n"; }

/// A task of the family.
struct Member {
  std::uint64_t seed = 1;  ///< decides the order, and what the other names do
  std::size_t target = 0;  ///< the name that triples the speed
  std::size_t place = 0;   ///< in the order, from 0

  std::vector<std::size_t> order() const {
    std::vector<std::size_t> names(kNames);
    std::iota(names.begin(), names.end(), 0);
    Rng rng(seed, 0, Purpose::proposal);
    rng.shuffle(std::span(names));
    std::iter_swap(std::ranges::find(names, target), names.begin() + static_cast<std::ptrdiff_t>(place));
    return names;
  }

  /// The others lose a fifth or gain a little.
  double speed(const std::string& name) const {
    if (name == "none") return 1;
    if (name == "n" + std::to_string(target)) return 3;
    Rng rng(seed, std::stoull(name.substr(1)), Purpose::evaluation);
    return 0.8 + 0.35 * rng.uniform();
  }
};

/// The names that the prompt's notes bring in.
inline std::vector<std::string> noted_names(const std::string& prompt) {
  std::vector<std::string> names;
  const std::size_t begin = prompt.find("# Notes from earlier runs");
  if (begin == std::string::npos) return names;
  const std::size_t end = prompt.find("\n# ", begin);
  for (const std::string_view line : lines_of(std::string_view(prompt).substr(begin, end - begin)))
    if (const std::string_view sign = "+choice = "; line.starts_with(sign)) {
      std::string name(without_newline(line.substr(sign.size())));
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  return names;
}

/// The proposer `simulated`: it knows of earlier runs what its prompt shows, and nothing else.
class ReaderProvider final : public ProposerProvider {
 public:
  explicit ReaderProvider(Member member) : member_(member) {}

  ProposerTraits traits() const override { return {.operators = {{Operator::rewrite, ""}}, .in_flight = 1}; }
  ProposerOutlook outlook() const override { return {.models = {{.name = "", .prompts = options()}}}; }

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token&) const override {
    auto builder = PromptBuilder::create(task, options());
    if (!builder) return builder.error();
    return blocking([builder = std::move(*builder),
                     order = member_.order()](const ProposalRequest& request) -> Result<Proposal> {
      const auto prompt = builder.build(request);
      if (!prompt) return prompt.error();
      const auto noted = noted_names(prompt->user);
      const std::size_t turn = request.ticket.value - 1;  // the seed has ticket 0
      const std::string name =
          turn < noted.size() ? noted[turn] : "n" + std::to_string(order[(turn - noted.size()) % kNames]);
      auto proposal = as_proposal(request, Source::create({{"choice.txt", line_of(name)}}).value());
      if (proposal) proposal->prompt = prompt->digest();
      return proposal;
    });
  }

 private:
  void list(Section& io) override { io("budget_tokens", options_.budget_tokens, {}, "of a prompt"); }
  PromptOptions options() const {
    PromptOptions options = options_;
    options.notes = context.notes;
    return options;
  }

  Member member_;
  PromptOptions options_;
};

/// Scores by the member's speeds, with 1 % of noise on both sides.
class SpeedProvider final : public EvaluatorProvider {
 public:
  explicit SpeedProvider(Member member) : member_(member) {}

  Result<std::shared_ptr<Evaluator>> make(const Task&, const std::stop_token&) const override {
    return blocking([member = member_](const EvaluationJob& job) -> Evaluation {
      const std::string_view text = without_newline(job.source.main_text());
      const double speed = member.speed(std::string(text.substr(text.rfind(' ') + 1)));
      return Acceptance{Metrics::create({speed, 0.99 * speed, 1.01 * speed, 5, "x"}).value(), {}};
    });
  }

 private:
  Member member_;
};

inline Registry registry_for(const Member& member) {
  Registry registry = default_registry();
  registry.evaluators["command"] = [member] { return std::make_unique<SpeedProvider>(member); };
  registry.proposers["simulated"] = [member] { return std::make_unique<ReaderProvider>(member); };
  return registry;
}

inline Task task() {
  Task task;
  task.name = "choice";
  task.backend = "command";
  task.seed = Source::create({{"choice.txt", line_of("none")}}).value();
  return task;
}

/// The task in a folder of its own, which must be new.
inline TaskFolder task_in(const std::filesystem::path& folder) {
  TaskFolder files;
  files.files = {{"task.yaml",
                  "version: 1\nname: choice\nbackend: command\nfiles: {seed: choice.txt}\n"
                  "command: [none]\n"},
                 {"choice.txt", line_of("none")}};
  write_task_folder(files, folder).value();
  return load_task_folder(folder, registry_for({}).backends).value();
}

inline constexpr const char* kQuiet =
    "proposer: {kind: simulated}\nworkers: 1\nlimits: {repairs: 0, duels: 0, tunings: 0, confirm: false}\n";

inline RunConfig config_for(const Task& task, const Member& member, const std::string& yaml) {
  const Registry registry = registry_for(member);
  RunConfig config = default_config(task, registry).value();
  for (const std::string& text : {std::string(kQuiet), yaml})
    read_config(text, "run.yaml", registry, config).value();
  return config;
}

}  // namespace kernelsmith::family
