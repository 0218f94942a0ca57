// ReplySpool: answers that somebody was paid for, kept from the moment they arrive until the journal has
// them.
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

/// The folder `arrived/` of a run: one file `TICKET.json` for each answer on its way to the journal. A killed
/// run finds them there. Thread-safe.
class ReplySpool {
 public:
  /// Reads what an earlier session left. Errors: `io`, `permission`; `corrupt` for a file that is no answer,
  /// or tells costs that no call has.
  static Result<std::shared_ptr<ReplySpool>> open(const std::filesystem::path& folder, Durability durability);

  /// Writes it, all or nothing. On an Error nothing is kept. If the disk is full the room is taken that
  /// reserve() has set aside.
  Status keep(TicketId ticket, const Proposal& answer);

  /// Sets room aside before anything is paid for, as far as the disk has plenty, until the end of this
  /// object. `disk_full` if the room was needed meanwhile: no other call is to be begun.
  Status reserve();

  ~ReplySpool();
  ReplySpool(const ReplySpool&) = delete;
  ReplySpool& operator=(const ReplySpool&) = delete;

  /// What an earlier session left for the ticket; once.
  std::optional<Proposal> take(TicketId ticket);

  /// The journal has it, or the ticket is closed.
  void forget(TicketId ticket);

  /// The tickets with a file.
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

/// Where a run's answers are kept, in its folder.
inline constexpr const char* kArrivedFolder = "arrived";

/// Whether the ticket's answer is kept in `folder`.
bool is_kept(const std::filesystem::path& folder, TicketId ticket);

}  // namespace kernelsmith
