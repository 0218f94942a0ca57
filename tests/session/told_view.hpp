// A view of a small search that a test tells step by step, without a clock, a folder or a process: its JSON
// is the same every time.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/session/program_proposer.hpp>
#include <kernelsmith/session/run_view.hpp>

#include "memory_journal.hpp"

namespace kernelsmith::testing {

// What a candidate may try on a page: tags, entities, escapes, marks that turn text, and bytes that are no
// UTF-8.
inline constexpr const char* kHostile =
    "</script><img src=x onerror=alert(1)>\"'&lt; \x1b[31m\xe2\x80\xae caf\xe9";

inline Source text_source(std::string text) {
  return Source::create({{"kernel.cpp", std::move(text)}}).value();
}

inline Evaluation accepted_at(double median, double x) {
  const Measurement fitness{median, median - 0.25, median + 0.5, 7, "x"};
  Report report;
  report.shapes = {{.shape = "rows=17",
                    .timed = true,
                    .correct = true,
                    .error = 0.5,
                    .runtime_us = Measurement{20, 19, 21, 7, "us"},
                    .speedup = fitness},
                   {.shape = "rows=1", .timed = false, .correct = true, .runtime_us = {}, .speedup = {}}};
  report.speedup = fitness;
  report.tier = "full";
  report.toolchain = "g++ -O3";
  return Acceptance{Metrics::create(fitness, {{"x", x}, {"y", 1}, {"z", x}}).value(), std::move(report)};
}

inline Evaluation rejected_with(std::string diagnostics) {
  return Rejection{Stage::compile, RejectionCode::compile_failed, std::move(diagnostics), {}};
}

/// The search: tell it, then look.
class ToldSearch {
 public:
  explicit ToldSearch(EngineOptions options) : options_(std::move(options)) {
    options_.clock_s = [] { return 1.0; };
    engine_ = std::make_unique<Engine>(
        Engine::create(std::make_unique<MemoryJournal>(events_), options_, nullptr, nullptr).value());
  }

  /// Two islands over three axes, and 5 iterations.
  static EngineOptions options() {
    EngineOptions options;
    options.sampler = std::make_shared<MixtureSampler>(MixtureSampler::create().value());
    options.budgets.iterations = 5;
    options.budgets.usd = 2.5;
    options.seeds = {text_source("seed\n")};
    options.topology = Topology::ring(2).value();
    options.axes = {{"x", LinearScale{0, 4, 4}}, {"y", LinearScale{0, 2, 2}}, {"z", LinearScale{0, 4, 2}}};
    return options;
  }

  /// The ticket that is asked for next stays open until tell().
  Ticket ask() { return engine_->ask().value().value(); }
  /// Or what else is there already, such as the best, which is measured again.
  void tell_seed(Evaluation evaluation) { engine_->tell(ask().id, std::move(evaluation)).value(); }
  void tell(std::string text, Evaluation evaluation) {
    engine_->tell(ask().id, text_source(std::move(text)), std::move(evaluation)).value();
  }
  /// What a model answered, at its cost.
  void buy(std::string text, Cost cost, Evaluation evaluation) {
    const Ticket ticket = ask();
    const ProgramId parent = std::get<Propose>(ticket.work).selection.parent->program->id;
    engine_
        ->propose(ticket.id,
                  {Child{text_source(std::move(text)), Origin::edit, {parent}}, std::move(cost), {}})
        .value();
    engine_->tell(ticket.id, std::move(evaluation)).value();
  }
  void refuse(Refusal refusal) { engine_->tell(ask().id, std::move(refusal)).value(); }

  /// As view_run gives it, with what stands in no journal set here.
  RunView view() const {
    journal_ = std::make_unique<MemoryJournal>(events_);
    SearchState state = replay(*journal_, options_).value();
    state.read_from(journal_.get());
    std::vector<LineageStep> lineage;
    if (const IndividualPtr best = state.best()) {
      auto path = state.lineage().path_to_seed(best->program->id);
      std::ranges::reverse(path);
      for (const ProgramId id : path) lineage.push_back({state.individual(id).value(), "a diff\n"});
    }
    const EndReason reason = state.end_reason(state.elapsed_s());
    RunView view{.run_id = "0123456789abcdef0123456789abcdef",
                 .folder = "runs/told.run/",
                 .best_folder = "runs/told.run/best",
                 .has_task = true,
                 .task = {},
                 .config = {},
                 .store = nullptr,
                 .state = std::move(state),
                 .latest_best = lineage.empty() ? nullptr : lineage.back().individual,
                 .lineage_of_best = std::move(lineage),
                 .has_cells = true,
                 .refusals = {},
                 .lost_workers = {},
                 .reason = reason,
                 .in_use = false,
                 .calls_under_way = 0,
                 .answers_on_their_way = 0};
    view.config.proposer = {"python", std::make_shared<ProgramProposer>()};
    view.task.name = "told";
    view.task.backend = "command";
    return view;
  }

 private:
  EngineOptions options_;
  Events events_ = no_events();
  std::unique_ptr<Engine> engine_;
  mutable std::unique_ptr<MemoryJournal> journal_;  ///< what the last view reads
};

}  // namespace kernelsmith::testing
