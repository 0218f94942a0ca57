// Our arm, the search that `kernelsmith run --model` makes: its configuration is the registry's, its engine
// the library's.
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/session.hpp>

#include "arms.hpp"
#include "memory_journal.hpp"

namespace kernelsmith::bench {
namespace {

/// What `run --model` sets beside the defaults (src/cli/run_options.cpp).
constexpr unsigned kRepairs = 2;
constexpr double kSeedComplexity = 4;
/// The interval that a measurement of this noise carries.
constexpr double kDeviations = 1.96;

Source text_of(std::size_t program) {
  return Source::create({{"kernel.py", std::to_string(program)}}).value();
}

std::size_t program_in(const Source& source) {
  return static_cast<std::size_t>(std::stoul(std::string(source.main_text())));
}

Task simulated_task() {
  Task task;
  task.name = "simulated";
  task.backend = "torch";
  task.reference = task.seed = text_of(0);
  return task;
}

struct Defaults {
  EngineOptions options;
  std::vector<OperatorChoice> operators;
};

const Defaults& defaults() {
  static const Defaults made = [] {
    const Registry registry = default_registry();
    const Task task = simulated_task();
    RunConfig config = default_config(task, registry).value();
    const auto operators = registry.proposers.at("chat")()->traits().operators;
    config.operators.clear();
    for (const OperatorChoice& choice : operators) config.operators.push_back({choice, 1.0});
    config.repairs = kRepairs;
    config.axes.emplace();  // made() sets them
    return Defaults{engine_options(task, config).value(), operators};
  }();
  return made;
}

Measurement around(double value, double noise) {
  return {value, value * std::exp(-kDeviations * noise), value * std::exp(kDeviations * noise), 5, ""};
}

Asked asked_for(Operator op) {
  Asked asked = op == Operator::edit || op == Operator::repair ? Step::small : Step::large;
  asked.translate = op == Operator::translate;
  asked.crossover = op == Operator::crossover;
  return asked;
}

/// The size of a program and its speedup, cut as the default axes of a run cut them.
std::vector<AxisSpec> size_axes() {
  return {{"complexity", LogarithmicScale{kSeedComplexity / 4, kSeedComplexity * 16, 8}},
          {"fitness", LogarithmicScale{0.5, 32, 12}}};
}

std::vector<AxisSpec> structure_axes(const Problem& problem) {
  std::vector<AxisSpec> axes;
  for (const auto& [name, bins] : problem.structure()) {
    CategoricalScale scale;
    for (std::size_t i = 0; i < bins; ++i) scale.categories.push_back(std::to_string(i));
    axes.push_back({name, std::move(scale)});
  }
  return axes;
}

Engine made(const EvalServer& server, std::uint64_t seed, const Change& change) {
  EngineOptions options = defaults().options;
  const Choices choices{defaults().operators, size_axes(), structure_axes(server.problem())};
  options.axes = choices.structure;
  if (change) change(options, choices);
  if (!server.problem().seed()) options.seeds = {};
  options.seed = seed;
  options.budgets = {.iterations = {}, .evaluations = server.budget(), .wall_s = {}};
  options.describe = {};
  options.fingerprint = {};
  return Engine::create(std::make_unique<testing::MemoryJournal>(testing::no_events()), options).value();
}

/// One search. The engine is asked for as many tickets as the server has in flight before the first is
/// answered. They are answered in their order.
class Ours {
 public:
  Ours(EvalServer& server, std::uint64_t seed, const Change& change)
      : server_(server),
        noise_(server.problem().noise()),
        structure_(server.problem().structure()),
        engine_(made(server, seed, change)) {}

  void search() {
    while (true) {
      while (asked_.size() < server_.in_flight()) {
        auto ticket = engine_.ask().value();
        if (!ticket) break;
        asked_.push_back(std::move(*ticket));
      }
      if (asked_.empty()) return;
      const Ticket ticket = std::move(asked_.front());
      asked_.pop_front();
      std::visit([&](const auto& work) { serve(ticket.id, work); }, ticket.work);
    }
  }

 private:
  void serve(TicketId id, const Evaluate& work) {
    engine_.tell(id, evaluation(program_in(work.child.source))).value();
  }

  void serve(TicketId id, const Propose& work) {
    std::vector<std::size_t> shown;
    for (const auto* group : {&work.selection.top, &work.selection.inspirations})
      for (const auto& one : *group) shown.push_back(program_in(one->program->source));
    const IndividualPtr& parent = work.selection.parent;
    const auto child =
        server_.make_new(asked_for(work.op), parent ? program_in(parent->program->source) : 0, shown);
    if (!child) throw std::logic_error("the engine asks for more than its budget");
    Child made{text_of(*child), Origin::rewrite, {}};
    if (parent) made.parents = {parent->program->id};
    engine_.tell(id, std::move(made), evaluation(*child)).value();
  }

  void serve(TicketId id, const Remeasure& work) {
    const std::size_t challenger = program_in(work.challenger->program->source);
    const double again = server_.remeasure(challenger);
    Report report;
    if (work.incumbent) {
      // The two are timed side by side in one evaluation.
      const double other = server_.measured_beside(program_in(work.incumbent->program->source));
      report.duel = around(again / other, noise_ * std::sqrt(2.0));
    }
    engine_.tell(id, accepted(challenger, again, std::move(report))).value();
  }

  Evaluation evaluation(std::size_t program) const {
    const Trial& trial = server_[program];
    if (trial.accepted) return accepted(program, trial.speedup, {});
    return Rejection{Stage::compile, RejectionCode::compile_failed, "", {}};
  }

  Evaluation accepted(std::size_t program, double speedup, Report report) const {
    const Trial& trial = server_[program];
    std::map<std::string, double> features{{"complexity", kSeedComplexity * trial.size}};
    for (std::size_t i = 0; i < structure_.size(); ++i)
      features[structure_[i].name] = static_cast<double>(trial.structure[i]);
    return Acceptance{Metrics::create(around(speedup, noise_), std::move(features)).value(),
                      std::move(report)};
  }

  EvalServer& server_;
  double noise_;
  std::vector<StructureAxis> structure_;
  Engine engine_;
  std::deque<Ticket> asked_;
};

}  // namespace

void kernelsmith_search(EvalServer& server, std::uint64_t seed, const Change& change) {
  Ours(server, seed, change).search();
}

}  // namespace kernelsmith::bench
