// Writes events to their tables and reads them back. Sources are stored by digest, artifacts by position.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <kernelsmith/core/event.hpp>

#include "sqlite.hpp"

namespace kernelsmith::detail {

/// The statements that append. Must not outlive the database.
class EventWriter {
 public:
  static Result<EventWriter> prepare(Database& database);

  /// Appends all events after the last position in one transaction, or none.
  Status append(Database& database, std::span<const Event> events);

 private:
  EventWriter(Statement source, Statement event, Statement artifact, bool checksums, std::int64_t last);
  Status insert_all(std::span<const Event> events);
  Status insert(std::int64_t position, const Event& event);
  Status insert_reply(std::int64_t position, const ProposalArrived& event);
  Status insert_artifacts(std::int64_t position, const EvaluationArrived& event);

  Statement source_, event_, artifact_;
  bool checksums_;
  std::int64_t last_;  ///< position
};

/// Visits the events after position `after`: see Journal::replay.
Status replay_events(const Database& database, std::uint64_t after,
                     const std::function<Status(std::uint64_t, const Event&)>& visit);

Result<std::vector<Artifact>> read_artifacts(const Database& database, ProgramId program,
                                             std::uint32_t attempt);

Result<std::optional<KeptReply>> read_reply(const Database& database, TicketId ticket);

}  // namespace kernelsmith::detail
