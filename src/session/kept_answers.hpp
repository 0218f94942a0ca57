// Answers that somebody was paid for, kept from the moment they arrive until the journal has them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include <kernelsmith/core/observer.hpp>
#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {

/// The folder `arrived/` of a run: one file `TICKET.json` for each answer on its way to the journal. A killed
/// run finds them there. Thread-safe.
class KeptAnswers {
 public:
  /// Reads what an earlier session left. Errors: `io`, `permission`; `corrupt` for a file that is no answer.
  static Result<std::shared_ptr<KeptAnswers>> open(const std::filesystem::path& folder,
                                                   Durability durability);

  /// Writes it, all or nothing. On an Error nothing is kept.
  Status keep(TicketId ticket, const Proposal& answer);

  /// What an earlier session left for the ticket; once.
  std::optional<Proposal> take(TicketId ticket);

  /// The journal has it, or the ticket is closed.
  void forget(TicketId ticket);

  /// The tickets with a file.
  std::set<TicketId> tickets() const;

 private:
  KeptAnswers(std::filesystem::path folder, Durability durability)
      : folder_(std::move(folder)), durability_(durability) {}

  std::filesystem::path file_of(TicketId ticket) const;

  const std::filesystem::path folder_;
  const Durability durability_;
  mutable std::mutex mutex_;
  std::set<TicketId> files_;
  std::map<TicketId, Proposal> left_;
};

/// `proposer`, whose answers to a prompt are kept on the thread on which they arrive, and which is not asked
/// for what was kept.
std::shared_ptr<Proposer> keeping(std::shared_ptr<KeptAnswers> answers, std::shared_ptr<Proposer> proposer);

/// `observer` (or null), and forgets what the journal has.
std::shared_ptr<Observer> forgetting(std::shared_ptr<KeptAnswers> answers,
                                     std::shared_ptr<Observer> observer);

}  // namespace kernelsmith
