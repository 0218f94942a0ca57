#include "recorded_run.hpp"

#include <utility>

namespace kernelsmith {
namespace {

Evaluation with_artifacts(const Evaluation& evaluation, std::vector<Artifact> artifacts) {
  auto outcome = evaluation.outcome();
  std::visit([&](auto& one) { one.report.artifacts = std::move(artifacts); }, outcome);
  return std::visit([](auto& one) { return Evaluation(std::move(one)); }, outcome);
}

}  // namespace

Result<std::unique_ptr<RecordedJournal>> RecordedJournal::open(const std::filesystem::path& folder) {
  auto store = RunStore::open_read_only(folder);
  if (!store) return store.error();
  return std::unique_ptr<RecordedJournal>(new RecordedJournal(std::move(*store)));
}

Status RecordedJournal::append(std::span<const Event>) {
  return fail(ErrorCode::permission, "a recording is read-only", store_->folder().string());
}

Status RecordedJournal::replay(std::uint64_t after,
                               const std::function<Status(std::uint64_t, const Event&)>& visit) const {
  return store_->replay(after, [&](std::uint64_t position, const Event& event) -> Status {
    const auto* arrived = std::get_if<EvaluationArrived>(&event);
    if (!arrived || arrived->source != EvaluationSource::evaluated) return visit(position, event);
    auto artifacts = store_->artifacts(arrived->program, arrived->attempt);
    if (!artifacts) return artifacts.error();
    EvaluationArrived whole = *arrived;
    whole.evaluation = with_artifacts(arrived->evaluation, std::move(*artifacts));
    return visit(position, Event(std::move(whole)));
  });
}

Result<std::map<TicketId, Proposal>> recorded_proposals(const std::filesystem::path& folder) {
  auto store = RunStore::open_read_only(folder);
  if (!store) return store.error();
  std::map<TicketId, Proposal> recorded;
  const Status status = (*store)->replay(0, [&](std::uint64_t, const Event& event) -> Status {
    if (const auto* arrived = std::get_if<ProposalArrived>(&event))
      recorded.emplace(arrived->ticket, arrived->proposal);
    return {};
  });
  if (!status) return status.error();
  return recorded;
}

}  // namespace kernelsmith
