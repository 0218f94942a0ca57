#include <algorithm>

#include <kernelsmith/code/diff.hpp>
#include <kernelsmith/session/run_view.hpp>
#include <kernelsmith/store/run_store.hpp>

#include "kept_answers.hpp"

namespace kernelsmith {

Digest archive_digest(const SearchState& state) { return digest_of(state.archipelago().to_text()); }

Digest RunView::archive_digest() const { return kernelsmith::archive_digest(state); }

const Evaluation* RunView::best_evaluation() const {
  const IndividualPtr best = state.best();
  if (!best) return nullptr;
  if (const Evaluation* confirmation = state.confirmation_of_best()) return confirmation;
  return &state.individuals().at(best->program->id)->evaluation;
}

Spending RunView::spending() const {
  Spending all = state.spending();
  if (!in_use) all.add_interrupted(calls_under_way);
  return all;
}

std::vector<LineageStep> RunView::lineage_of_best() const {
  std::vector<LineageStep> steps;
  const IndividualPtr best = state.best();
  if (!best) return steps;
  auto path = state.lineage().path_to_seed(best->program->id);
  for (auto id = path.rbegin(); id != path.rend(); ++id) {
    LineageStep step{state.individuals().at(*id), ""};
    if (!steps.empty())
      step.diff = unified_diff(steps.back().individual->program->source, step.individual->program->source);
    steps.push_back(std::move(step));
  }
  return steps;
}

std::map<std::pair<Stage, RejectionCode>, std::uint64_t> RunView::failures() const {
  std::map<std::pair<Stage, RejectionCode>, std::uint64_t> counts;
  for (const auto& [id, individual] : state.individuals())
    if (const Rejection* rejection = individual->evaluation.rejection())
      ++counts[{rejection->stage, rejection->code}];
  return counts;
}

std::map<Cell, Elite> RunView::elites() const {
  std::map<Cell, Elite> best;
  for (std::uint32_t island = 0; island < state.archipelago().size(); ++island)
    for (const Elite& elite : state.archipelago().island({island}).archive().elites()) {
      const auto [at, added] = best.try_emplace(elite.cell, elite);
      if (!added && elite.fitness > at->second.fitness) at->second = elite;
    }
  return best;
}

Result<RunView> view_run(const std::filesystem::path& folder, const Registry& registry) {
  auto stored = load_stored_run(folder, registry);
  if (!stored) return stored.error();
  auto store = RunStore::open_read_only(folder);
  if (!store) return store.error();
  auto options = engine_options(stored->task.task, stored->config);
  if (!options) return options.error();
  options->run = (*store)->run_id();
  auto state = replay(**store, std::move(*options));
  if (!state) return state.error();
  std::map<RefusalCode, RunView::Refusals> refusals;
  const Status counted = (*store)->replay(0, [&](std::uint64_t, const Event& event) -> Status {
    const auto* arrived = std::get_if<ProposalArrived>(&event);
    const Refusal* refusal = arrived ? arrived->proposal.refusal() : nullptr;
    if (!refusal) return {};
    RunView::Refusals& all = refusals[refusal->code];
    all = {all.count + 1, arrived->ticket, refusal->detail};
    return {};
  });
  if (!counted) return counted.error();
  const EndReason reason = state->end_reason(state->elapsed_s());
  const auto calls = state->calls_under_way();
  const auto arrived = static_cast<std::uint64_t>(std::ranges::count_if(
      calls, [&](TicketId ticket) { return is_kept(folder / kArrivedFolder, ticket); }));
  return RunView{.run_id = (*store)->run_id(),
                 .folder = folder,
                 .best_folder = (*store)->best_folder(),
                 .task = std::move(stored->task.task),
                 .config = std::move(stored->config),
                 .state = std::move(*state),
                 .refusals = std::move(refusals),
                 .reason = reason,
                 .in_use = RunStore::is_in_use(folder),
                 .calls_under_way = calls.size() - arrived,
                 .answers_on_their_way = arrived};
}

}  // namespace kernelsmith
