// A run folder read as a recording.
#pragma once

#include <filesystem>
#include <map>
#include <memory>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {

/// The read-only journal of a stored run with the artifacts of its evaluations. It may be read while another
/// process writes.
class RecordedJournal final : public Journal {
 public:
  /// Errors: RunStore's, and `not_found` for a folder that is not a run.
  static Result<std::unique_ptr<RecordedJournal>> open(const std::filesystem::path& folder);

  Status append(std::span<const Event> events) override;
  Status replay(std::uint64_t after,
                const std::function<Status(std::uint64_t, const Event&)>& visit) const override;

 private:
  explicit RecordedJournal(std::unique_ptr<RunStore> store) : store_(std::move(store)) {}

  std::unique_ptr<RunStore> store_;
};

/// Every answer that the run's proposer gave, by ticket.
Result<std::map<TicketId, Proposal>> recorded_proposals(const std::filesystem::path& folder);

}  // namespace kernelsmith
