// ReplySpool: keeps paid answers from their arrival until they are in the journal.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {

/// The folder `arrived/` of a run: one file `TICKET.json` for each answer that is not yet in the journal, so
/// that a killed run can find them. Thread-safe.
class ReplySpool {
 public:
  /// Reads the answers of an earlier session. Errors: `io`, `permission`; `corrupt` for a file that is not an
  /// answer or has impossible costs.
  static Result<std::shared_ptr<ReplySpool>> open(const std::filesystem::path& folder, Durability durability);

  /// Writes an answer atomically. On an Error nothing is kept. If the disk is full, the space that reserve()
  /// set aside is used.
  Status keep(TicketId ticket, const Proposal& answer);

  /// Reserves disk space for the lifetime of this object, if the disk has plenty. Call it before any paid
  /// call. Errors: `disk_full` if the reserved space was used meanwhile; then no further call may start.
  Status reserve();

  ~ReplySpool();
  ReplySpool(const ReplySpool&) = delete;
  ReplySpool& operator=(const ReplySpool&) = delete;

  /// Takes the answer that an earlier session left for the ticket.
  std::optional<Proposal> take(TicketId ticket);

  /// Removes the answer, because it is in the journal or the ticket is closed.
  void forget(TicketId ticket);

  /// The tickets that have a file.
  std::set<TicketId> tickets() const;

 private:
  ReplySpool(std::filesystem::path folder, Durability durability)
      : folder_(std::move(folder)), durability_(durability) {}

  std::filesystem::path file_of(TicketId ticket) const;
  std::filesystem::path spare_file() const;

  const std::filesystem::path folder_;
  const Durability durability_;
  mutable Mutex mutex_;
  std::set<TicketId> files_ KERNELSMITH_GUARDED_BY(mutex_);
  std::map<TicketId, Proposal> left_ KERNELSMITH_GUARDED_BY(mutex_);
  enum class Spare { none, reserved, used } spare_ KERNELSMITH_GUARDED_BY(mutex_) = Spare::none;
};

/// The folder of answers in a run folder.
inline constexpr const char* kArrivedFolder = "arrived";

/// Whether the ticket's answer is kept in `folder`.
bool is_kept(const std::filesystem::path& folder, TicketId ticket);

}  // namespace kernelsmith
