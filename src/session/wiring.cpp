#include "wiring.hpp"

#include <utility>

#include <kernelsmith/code/knobs.hpp>

namespace kernelsmith {
namespace {

/// Refuses to keep evaluations that were recorded for another task.
Status check_task(const RecordedJournal& recording, const RecordedRun& run, const Task& task) {
  std::string digest;
  Status read = recording.replay(0, [&](std::uint64_t, const Event& event) -> Status {
    const auto* session = std::get_if<SessionStarted>(&event);
    if (!session || !digest.empty()) return {};
    const auto found = session->settings.find("task");
    digest = found == session->settings.end() ? "(none)" : found->second;
    return {};
  });
  if (!read) return read;
  if (digest == task.digest.hex() || run.evaluations == RecordedEvaluations::measured) return {};
  return fail(ErrorCode::invalid_argument,
              "the recording is of another task, so its evaluations cannot be kept", run.folder.string(),
              "kernelsmith replay RUN takes the task from the recorded run");
}

}  // namespace

/// Refuses settings with which a run could never be resumed.
Status check_budgets(const RunConfig& config) {
  if (config.deterministic && config.budgets.wall_s)
    return fail(ErrorCode::invalid_argument,
                "a deterministic run takes no wall time budget: its end would depend on the clock",
                "budgets.wall_time_s", "limit iterations or evaluations instead");
  const Budgets only_flat{
      .iterations = {}, .evaluations = {}, .wall_s = {}, .until_flat = config.budgets.until_flat};
  if (config.islands > 1 && config.budgets.until_flat && config.budgets == only_flat)
    return fail(ErrorCode::invalid_argument,
                "islands migrate at fractions of a budget, but this run has no such budget",
                "budgets.until_flat", "limit iterations, evaluations, time or money too, or take one island");
  return config.budgets.usd ? config.proposer.provider->outlook().check_prices() : Status{};
}

Result<std::shared_ptr<Evaluator>> prepared_evaluator(const Task& task, const RunConfig& config,
                                                      const std::stop_token& stop) {
  auto evaluator = config.evaluator.provider->make(task, stop);
  if (evaluator || !stop.stop_requested()) return evaluator;
  return fail(ErrorCode::cancelled, "stopped while the task was being prepared");
}

Result<Wiring> wire(const Task& task, const RunConfig& config, const std::stop_token& stop, bool measures) {
  std::unique_ptr<RecordedJournal> recording;
  const auto recorded = config.proposer.provider->traits().recorded;
  if (recorded) {
    auto opened = RecordedJournal::open(recorded->folder);
    if (!opened) return opened.error();
    recording = std::move(*opened);
    if (const Status ok = check_task(*recording, *recorded, task); !ok) return ok.error();
  }
  if (const Status ok = check_budgets(config); !ok) return ok.error();
  if (const Status ok = check_operators(config); !ok) return ok.error();
  if (const auto knobs = find_knobs(task.seed); !knobs) return knobs.error();
  auto options = engine_options(task, config);
  if (!options) return options.error();
  auto proposer = config.proposer.provider->make(task, stop);
  if (!proposer) return proposer.error();
  Wiring wiring{nullptr, std::move(*proposer), std::move(*options), std::move(recording)};
  if (recorded && recorded->evaluations == RecordedEvaluations::kept && !recorded->live) return wiring;
  if (!measures) return wiring;
  config.evaluator.provider->require_measuring();
  auto evaluator = prepared_evaluator(task, config, stop);
  if (!evaluator) return evaluator.error();
  wiring.evaluator = std::move(*evaluator);
  return wiring;
}

}  // namespace kernelsmith
