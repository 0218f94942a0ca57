#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <kernelsmith/code/diff.hpp>
#include <kernelsmith/session/run_view.hpp>
#include <kernelsmith/store/reply_spool.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {

Digest archive_digest(const SearchState& state) { return digest_of(state.archipelago().to_text()); }

Digest RunView::archive_digest() const { return kernelsmith::archive_digest(state); }

const Evaluation* RunView::best_evaluation() const {
  const IndividualPtr best = state.best();
  if (!best) return nullptr;
  if (const Evaluation* confirmation = state.confirmation_of_best()) return confirmation;
  return &latest_best->evaluation;
}

Result<IndividualPtr> RunView::individual(ProgramId id) const {
  auto found = state.individual(id);
  return found ? Result<IndividualPtr>(shown(std::move(*found))) : found;
}

const Measurement& score_of(const Evaluation& accepted) {
  const auto& speedup = accepted.report().speedup;
  return speedup ? *speedup : accepted.metrics()->fitness();
}

std::optional<ExpectedGain> RunView::expected_gain() const {
  const auto expected = state.expected_gain();
  if (reason == EndReason::exhausted || reason == EndReason::finished || !expected ||
      !std::isfinite(expected->percent))
    return std::nullopt;
  return expected;
}

Spending RunView::spending() const {
  Spending all = state.spending();
  if (!in_use) all.add_interrupted(calls_under_way);
  return all;
}

std::map<Cell, Elite> RunView::elites() const { return state.archipelago().elites(); }

namespace {

/// The stored run; empty if a program that uses the library made it, because such a run has no task folder.
Result<std::optional<StoredRun>> stored_run(const std::filesystem::path& folder, const Registry& registry) {
  std::error_code ignored;
  const bool by_library = std::filesystem::exists(folder / "run.db", ignored) &&
                          !std::filesystem::exists(folder / "task", ignored);
  if (by_library) return std::optional<StoredRun>();
  auto stored = load_stored_run(folder, registry);
  if (!stored) return stored.error();
  return std::optional(std::move(*stored));
}

/// Whether the program that began the run declared that it computes the features of sources as sessions do.
bool describes_sources(const std::map<std::string, std::string>& settings) {
  const auto found = settings.find(kDescribeSetting);
  return found != settings.end() && found->second == kSourceFeatures;
}

/// Whether the file of a Python evaluator, which lies outside the run folder, has changed. If so, gives the
/// task its digest from the beginning of the run, because the run's measurements stay valid.
Result<bool> take_recorded_digest(const RunStore& store, Task& task) {
  if (task.evaluator.path.empty()) return false;
  const Digest now = task.digest;
  const Status read = store.replay(0, [&](std::uint64_t, const Event& event) -> Status {
    const auto* session = std::get_if<SessionStarted>(&event);
    if (!session) return fail(ErrorCode::cancelled, "one is enough");
    if (const auto found = session->settings.find("task"); found != session->settings.end())
      task.digest = Digest::from_hex(found->second).value_or(now);
    return fail(ErrorCode::cancelled, "one is enough");
  });
  if (!read && read.error().code != ErrorCode::cancelled) return read.error();
  return task.digest != now;
}

Result<SearchState> state_of(const RunStore& store, const std::optional<StoredRun>& stored) {
  if (!stored)
    return replay_as_recorded(store, [](const auto& settings, EngineOptions& options) {
      if (!describes_sources(settings)) return;
      options.describe = [axes = options.axes](const Source& source, const Evaluation&) {
        return source_features(source, axes);
      };
    });
  auto options = engine_options(stored->task.task, stored->config);
  if (!options) return options.error();
  options->run = store.run_id();
  return replay(store, std::move(*options));
}

/// The configuration known from the journal.
StoredRun recorded_only(const SearchState& state) {
  StoredRun run;
  const auto& settings = state.session_settings();
  const auto text = [&](const char* name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string() : found->second;
  };
  run.task.task.digest = Digest::from_hex(text("task")).value_or(Digest());
  run.config.seed = std::strtoull(text("seed").c_str(), nullptr, 10);
  run.config.deterministic = text("deterministic") == "true";
  run.config.budgets = state.budgets();
  return run;
}

Result<std::vector<LineageStep>> lineage_of(const SearchState& state, const IndividualPtr& best) {
  std::vector<LineageStep> steps;
  if (!best) return steps;
  auto path = state.lineage().path_to_seed(best->program->id);
  for (auto id = path.rbegin(); id != path.rend(); ++id) {
    auto individual = state.individual(*id);
    if (!individual) return individual.error();
    LineageStep step{std::move(*individual), ""};
    if (!steps.empty())
      step.diff = unified_diff(steps.back().individual->program->source, step.individual->program->source);
    steps.push_back(std::move(step));
  }
  return steps;
}

/// Data of the journal's events that the state does not keep.
struct Gathered {
  const Grid& grid;
  std::map<RefusalCode, RunView::Refusals> refusals;
  std::vector<ProgramId> lost_workers = {};
  std::map<ErrorCode, std::uint64_t> given_back = {};
  bool has_cells = true;

  void operator()(const Event& event) {
    if (const auto* told = std::get_if<EvaluationArrived>(&event)) take(*told);
    if (const auto* closed = std::get_if<TicketClosed>(&event); closed && closed->error)
      ++given_back[closed->error->code];
    const auto* arrived = std::get_if<ProposalArrived>(&event);
    const Refusal* refusal = arrived ? arrived->proposal.refusal() : nullptr;
    if (!refusal) return;
    RunView::Refusals& all = refusals[refusal->code];
    all = {all.count + 1, arrived->ticket, refusal->detail};
  }

  void take(const EvaluationArrived& told) {
    if (const Metrics* metrics = told.evaluation.metrics())
      has_cells = has_cells && grid.absent_features(*metrics).empty();
    const Rejection* rejection = told.evaluation.rejection();
    if (rejection && rejection->code == RejectionCode::worker_lost &&
        told.source == EvaluationSource::evaluated)
      lost_workers.push_back(told.program);
  }
};

}  // namespace

Result<RunView> view_run(const std::filesystem::path& folder, const Registry& registry) {
  auto stored = stored_run(folder, registry);
  if (!stored) return stored.error();
  auto opened = RunStore::open_read_only(folder);
  if (!opened) return opened.error();
  const std::shared_ptr<const RunStore> store = std::move(*opened);
  const auto evaluator_changed =
      *stored ? take_recorded_digest(*store, (*stored)->task.task) : Result<bool>(false);
  if (!evaluator_changed) return evaluator_changed.error();
  auto state = state_of(*store, *stored);
  if (!state) return state.error();
  state->read_from(store.get());
  Gathered gathered{state->archipelago().grid(), {}};
  const Status read = store->replay(0, [&](std::uint64_t, const Event& event) -> Status {
    gathered(event);
    return {};
  });
  if (!read) return read.error();
  const IndividualPtr best = state->best();
  auto lineage = lineage_of(*state, best);
  if (!lineage) return lineage.error();
  StoredRun run = *stored ? std::move(**stored) : recorded_only(*state);
  const EndReason reason = state->end_reason(state->elapsed_s());
  const bool described = describes_sources(state->session_settings());
  const auto calls = state->calls_under_way();
  const auto arrived = static_cast<std::uint64_t>(std::ranges::count_if(
      calls, [&](TicketId ticket) { return is_kept(folder / kArrivedFolder, ticket); }));
  return RunView{.run_id = store->run_id(),
                 .folder = folder,
                 .best_folder = store->best_folder(),
                 .has_task = stored->has_value(),
                 .evaluator_changed = *evaluator_changed,
                 .task = std::move(run.task.task),
                 .config = std::move(run.config),
                 .store = store,
                 .state = std::move(*state),
                 .latest_best = lineage->empty() ? nullptr : lineage->back().individual,
                 .lineage_of_best = std::move(*lineage),
                 // Evaluations do not hold the features of sources: these are computed.
                 .has_cells = stored->has_value() || gathered.has_cells || described,
                 .refusals = std::move(gathered.refusals),
                 .lost_workers = std::move(gathered.lost_workers),
                 .given_back = std::move(gathered.given_back),
                 .reason = reason,
                 .in_use = RunStore::is_in_use(folder),
                 .calls_under_way = calls.size() - arrived,
                 .answers_on_their_way = arrived};
}

}  // namespace kernelsmith
