#include <utility>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/engine/search_state.hpp>
#include <kernelsmith/session/session.hpp>

#include "kept_answers.hpp"
#include "recorded_run.hpp"
#include "rescue.hpp"
#include "run_memory.hpp"
#include "wiring.hpp"

namespace kernelsmith {
namespace {

/// If the session begins within a recording, sets its budgets to those that were in force at that point.
Status take_recorded_budgets(const RecordedJournal& recording, const Journal& own, Budgets& budgets) {
  const auto place = place_in(recording, own);
  if (!place) return place.error();
  bool more = false;
  Status read = recording.replay(place->position, [&](std::uint64_t, const Event&) -> Status {
    more = true;
    return {};
  });
  if (!read) return read;
  if (place->fits && place->budgets && more) budgets = *place->budgets;
  return {};
}

/// Whether a run is complete enough to learn from. A stopped run is not: it may continue later.
bool is_over(EndReason reason) {
  return reason == EndReason::budget || reason == EndReason::flat || reason == EndReason::exhausted ||
         reason == EndReason::finished;
}

/// Warns if a run with a budget of money continues after calls whose full cost is not known.
void warn_of_unknown_cost(const Engine& engine, const std::shared_ptr<Observer>& observer) {
  if (!observer) return;
  engine.inspect([&](const SearchState& state) {
    const Spending spending = state.spending();
    const CallTotals total = spending.total();
    const std::uint64_t calls = total.untold + total.unpriced + spending.interrupted();
    if (state.budgets().usd && calls > 0)
      observer->on_notice({Notice::Level::warning, "the full cost of " + std::to_string(calls) +
                                                       " earlier calls is not known; "
                                                       "the budget of money counts the known part"});
  });
}

/// Warns if the seed and the final measurement use up the budget, so that nothing is proposed.
void warn_of_small_budget(const Task& task, const RunConfig& config, Observer& observer) {
  const std::uint64_t kept = (task.seed.empty() ? 0 : 1) + (config.confirm ? 1 : 0);
  if (!config.budgets.evaluations || *config.budgets.evaluations > kept) return;
  observer.on_notice(
      {Notice::Level::warning,
       "this budget of evaluations asks nobody for a program: evaluating the seed and measuring "
       "the best again at the end use it up; the least useful budget is " +
           std::to_string(kept + 1)});
}

}  // namespace

struct Session::Impl {
  Task task;
  RunConfig config;
  RunStore* store;  ///< owned by the engine, as its journal
  Engine engine;
  std::unique_ptr<RecordedJournal> recording;  ///< null if nothing is followed
  std::shared_ptr<Observer> observer;
  MemorySnapshot memory;  ///< the rules that the run read at its start

  static Result<Session> open(Task task, RunConfig config, std::unique_ptr<RunStore> store, Wiring wiring,
                              std::shared_ptr<Observer> observer, MemorySnapshot memory);

  /// Brings the folder best/ up to date; removes it if no program is accepted (any more). Must run under the
  /// engine's lock, because the journal is the same store.
  Status write_best() const;

  /// Adds new rules to the run's memory. Reports a failure only as a notice, because the run itself is
  /// complete.
  void remember() const;

  Result<Outcome> search(const CommitCallback& on_commit, const std::stop_token& stop);
  Result<std::optional<Outcome>> follow(const CommitCallback& on_commit, const std::stop_token& stop);
};

Result<Session> Session::Impl::open(Task task, RunConfig config, std::unique_ptr<RunStore> store,
                                    Wiring wiring, std::shared_ptr<Observer> observer,
                                    MemorySnapshot memory) {
  RunStore* journal = store.get();
  wiring.options.run = store->run_id();
  if (observer)
    store->on_warning([observer](const std::string& message) {
      observer->on_notice({Notice::Level::warning, message});
    });
  auto spool = ReplySpool::open(store->folder() / kArrivedFolder, config.durability);
  if (!spool) return spool.error();
  wiring.options.observer = forgetting(*spool, observer);
  const bool from_recording = wiring.recording && !config.proposer.provider->traits().recorded->live;
  CallPlanner planner;
  if (!from_recording) {
    wiring.proposer = keeping(*spool, std::move(wiring.proposer));
    auto made = config.proposer.provider->planner(task);
    if (!made) return made.error();
    planner = std::move(*made);
  }
  if (wiring.recording)
    if (const Status ok = take_recorded_budgets(*wiring.recording, *store, wiring.options.budgets); !ok)
      return ok.error();
  auto engine = Engine::create(std::move(store), std::move(wiring.options), std::move(wiring.evaluator),
                               std::move(wiring.proposer));
  if (!engine) return engine.error();
  warn_of_unknown_cost(*engine, observer);
  if (const Status taken = take_up(*engine, **spool, planner, config.seed, observer.get()); !taken)
    return taken.error();
  return Session(
      std::make_unique<Impl>(Impl{std::move(task), std::move(config), journal, std::move(*engine),
                                  std::move(wiring.recording), std::move(observer), std::move(memory)}));
}

Result<Outcome> Session::Impl::search(const CommitCallback& on_commit, const std::stop_token& stop) {
  if (recording) {
    auto ended = follow(on_commit, stop);
    if (!ended) return ended.error();
    if (*ended) return **ended;
  }
  if (engine.done()) return engine.outcome();
  return engine.run(on_commit, stop);
}

/// Returns empty if the search continues without the recording.
Result<std::optional<Outcome>> Session::Impl::follow(const CommitCallback& on_commit,
                                                     const std::stop_token& stop) {
  const RecordedRun run = *config.proposer.provider->traits().recorded;
  auto followed = engine.follow(*recording, run.evaluations, on_commit, stop);
  if (!followed) return followed.error();
  std::optional<Outcome> outcome = engine.outcome();
  const bool measures = run.live || run.evaluations == RecordedEvaluations::measured;
  switch (followed->end) {
    case Followed::End::whole:
      if (outcome->reason == EndReason::unfinished) outcome->reason = EndReason::replayed;
      if (run.live) outcome.reset();
      break;
    case Followed::End::parted:
      if (observer && measures) observer->on_notice({Notice::Level::warning, followed->why->message});
      outcome->reason = EndReason::errors;
      outcome->error = followed->why;
      if (measures) outcome.reset();
      break;
    case Followed::End::stopped:
      outcome->reason = EndReason::stopped;
      break;
    case Followed::End::failed:
      outcome->reason = EndReason::errors;
      outcome->error = followed->why;
      break;
  }
  if (!outcome)
    if (const Status renewed = engine.renew(config.budgets); !renewed) return renewed.error();
  return outcome;
}

Status Session::Impl::write_best() const {
  Status status;
  engine.inspect([&](const SearchState& state) {
    const IndividualPtr best = state.best();
    const Evaluation* confirmation = state.confirmation_of_best();
    status = best ? store->write_best(*best, to_json(confirmation ? *confirmation : best->evaluation))
                  : store->remove_best();
  });
  return status;
}

void Session::Impl::remember() const {
  if (!is_remembered(config)) return;
  std::optional<Result<Learnt>> learnt;
  engine.inspect([&](const SearchState&) { learnt = learnt_from(*store, task, config, memory); });
  const auto words =
      *learnt ? add_to_memory(config, store->run_id(), **learnt) : Result<std::string>(learnt->error());
  if (!observer) return;
  if (words)
    observer->on_notice({Notice::Level::info, *words});
  else
    observer->on_notice({Notice::Level::warning, describe(words.error())});
}

Result<Session> Session::create(const TaskFolder& task, const std::filesystem::path& folder, RunConfig config,
                                std::shared_ptr<Observer> observer, const std::stop_token& stop) {
  set_default_budget(config);
  set_default_axes(task.task, config);
  config.proposer.provider->context.observer = observer;
  auto copy = task.files;
  for (SourceFile& file : copy) file.path.insert(0, std::string(kTaskFolder) + "/");
  auto memory = snapshot_for(task.task, config);
  if (!memory) return memory.error();
  take_snapshot(*memory, config);
  if (!memory->rules.empty()) copy.push_back({kSnapshotFile, to_lines(memory->rules)});
  if (const Status free = RunStore::check_free(folder, copy); !free)
    return free.error();  // fails early, before slow steps
  if (const Status made = make_memory(config); !made) return made.error();
  if (observer && !config.proposer.provider->traits().recorded)
    warn_of_small_budget(task.task, config, *observer);
  auto wiring = wire(task.task, config, stop);
  if (!wiring) return wiring.error();
  auto store = RunStore::create(folder, to_yaml(config), config.durability, copy);
  if (!store) return store.error();
  if (const Status noted = note_beginning(config, (*store)->run_id()); !noted) return noted.error();
  return Impl::open(task.task, std::move(config), std::move(*store), std::move(*wiring), std::move(observer),
                    std::move(*memory));
}

namespace {

/// Warns that a resumed run may pay for the same failures again, because its counters of consecutive errors
/// and useless replies restart.
void tell_of_last_error(const SearchState& state, Observer& observer) {
  if (const auto& error = state.session_error())
    observer.on_notice({Notice::Level::info,
                        "the last session ended with an error, which this one may come to again at the same "
                        "price if nothing was mended: " +
                            error->message.substr(0, error->message.find('\n'))});
}

/// Whether the run is complete under the configuration's budgets. If not, the observer learns how the last
/// session ended.
Result<bool> has_ended(const RunStore& store, const StoredRun& run, Observer* observer) {
  if (run.config.proposer.provider->traits().recorded) return false;
  auto options = engine_options(run.task.task, run.config);
  if (!options) return options.error();
  options->run = store.run_id();
  options->take_policies = nullptr;  // the configuration's budgets apply, as in the session
  const Budgets budgets = options->budgets;
  auto state = replay(store, std::move(*options));
  if (!state) return state.error();
  state->set_budgets(budgets);
  const EndReason reason = state->end_reason(state->elapsed_s());
  const bool ended =
      reason != EndReason::unfinished && reason != EndReason::finished;  // another session can continue
  if (observer && !ended) tell_of_last_error(*state, *observer);
  return ended;
}

}  // namespace

Result<Session> Session::resume(const std::filesystem::path& folder,
                                const std::function<Status(RunConfig&)>& change, const Registry& registry,
                                std::shared_ptr<Observer> observer, const std::stop_token& stop) {
  auto stored = load_stored_run(folder, registry);
  if (!stored) return stored.error();
  RunConfig& config = stored->config;
  if (change)
    if (const Status changed = change(config); !changed) return changed.error();
  set_default_axes(stored->task.task, config);  // a preset is compared by its axes
  auto store = RunStore::open(folder, config.durability);
  if (!store) return store.error();
  config.proposer.provider->context.observer = observer;
  take_snapshot(stored->memory, config);  // the proposer may have changed
  const auto ended = has_ended(**store, *stored, observer.get());
  if (!ended) return ended.error();
  auto wiring = wire(stored->task.task, config, stop, !*ended);
  if (!wiring) return wiring.error();
  const std::string yaml = to_yaml(config);
  auto session = Impl::open(std::move(stored->task.task), std::move(config), std::move(*store),
                            std::move(*wiring), std::move(observer), std::move(stored->memory));
  if (!session) return session;
  // Writes the configuration only now: settings that contradict the journal would make the run impossible to
  // resume.
  if (const Status kept = session->impl_->store->write_configuration(yaml); !kept) return kept.error();
  return session;
}

namespace {

/// Warns of a misspelt or unreported feature of an objective. The engine warns of those of axes.
void warn_of_absent_features(const Engine& engine, const Individual& accepted, Observer& observer) {
  engine.inspect([&](const SearchState& state) {
    const Metrics& metrics = *accepted.evaluation.metrics();
    const Objectives& objectives = state.archipelago().objectives();
    for (std::size_t i = 0; i < objectives.list().size(); ++i)
      if (!objectives.reported(i, metrics))
        observer.on_notice({Notice::Level::warning, "no program reports the feature '" +
                                                        objectives.list()[i].feature +
                                                        "' of objectives: all programs are equal in it"});
  });
}

}  // namespace

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Outcome> Session::run(const CommitCallback& on_commit, std::stop_token stop) {
  std::stop_source ended;
  const std::stop_callback stopped(std::move(stop), [&] { ended.request_stop(); });
  Status kept;
  bool warned = !impl_->observer;
  auto outcome = impl_->search(
      [&](const Commit& commit) {
        if (commit.new_best && !std::exchange(warned, true))
          warn_of_absent_features(impl_->engine, *commit.individual, *impl_->observer);
        if ((commit.new_best || commit.demoted) && kept) kept = impl_->write_best();
        if (!kept) ended.request_stop();
        if (on_commit) on_commit(commit);
      },
      ended.get_token());
  if (const Status there = impl_->store->check(); !there)
    return rescued(there.error(), impl_->engine, folder());
  if (!outcome) return outcome;
  if (kept) kept = impl_->write_best();  // includes measurements of duels and the confirmation
  if (!kept) return kept.error();
  if (is_over(outcome->reason)) impl_->remember();
  return outcome;
}

const Task& Session::task() const { return impl_->task; }
const RunConfig& Session::config() const { return impl_->config; }
const Engine& Session::engine() const { return impl_->engine; }
std::filesystem::path Session::folder() const { return impl_->store->folder(); }
Status Session::check() const { return impl_->store->check(); }
std::filesystem::path Session::best_folder() const { return impl_->store->best_folder(); }

}  // namespace kernelsmith
