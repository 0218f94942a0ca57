#include "event_table.hpp"

#include <string>
#include <utility>

#include <kernelsmith/config/json.hpp>

namespace kernelsmith::detail {
namespace {

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

/// SQLite's integers are signed; programs are numbered far below that.
std::int64_t number_of(ProgramId program) { return static_cast<std::int64_t>(program.value); }

const Child* child_of(const Event& event) {
  const auto* arrived = std::get_if<ProposalArrived>(&event);
  return arrived ? arrived->proposal.child() : nullptr;
}

// Kept replies stand among the artifacts, under the ticket's number and an attempt that no evaluation has.
constexpr std::int64_t kReplyAttempt = -1;
constexpr std::string_view kReplyName = "reply.json";

/// The event as its row holds it: without what stands in tables of its own.
Event slim(const Event& event) {
  Event copy = event;
  if (auto* arrived = std::get_if<ProposalArrived>(&copy)) {
    if (auto* child = std::get_if<Child>(&arrived->proposal.outcome)) child->source = Source();
    arrived->proposal.reply.reset();
  }
  if (auto* arrived = std::get_if<EvaluationArrived>(&copy)) {
    arrived->evaluation = arrived->evaluation.without_artifacts();
  }
  return copy;
}

Error corrupt(std::int64_t position, std::string message) {
  return fail(ErrorCode::corrupt, std::move(message), "event " + std::to_string(position));
}

Status put_back_source(Event& event, std::string_view digest, std::string_view files) {
  auto source = from_json<Source>(files);
  if (!source) return source.error();
  if (bytes_of(source->digest()) != digest)
    return fail(ErrorCode::corrupt, "a source that is not what it was");
  auto* arrived = std::get_if<ProposalArrived>(&event);
  auto* child = arrived ? std::get_if<Child>(&arrived->proposal.outcome) : nullptr;
  if (!child) return fail(ErrorCode::corrupt, "a source at an event that has none");
  child->source = std::move(*source);
  return {};
}

/// The event of the statement's row: position, body, digest, files.
Result<Event> event_in(const Statement& row) {
  auto event = from_json<Event>(row.bytes(1));
  if (!event) return corrupt(row.integer(0), describe(event.error()));
  if (!row.is_null(2)) {
    const Status restored = put_back_source(*event, row.bytes(2), row.bytes(3));
    if (!restored) return corrupt(row.integer(0), describe(restored.error()));
  }
  return event;
}

}  // namespace

EventWriter::EventWriter(Statement source, Statement event, Statement artifact, std::int64_t last)
    : source_(std::move(source)), event_(std::move(event)), artifact_(std::move(artifact)), last_(last) {}

Result<EventWriter> EventWriter::prepare(Database& database) {
  auto source = database.prepare("INSERT OR IGNORE INTO sources VALUES (?, ?)");
  if (!source) return source.error();
  auto event = database.prepare("INSERT INTO events VALUES (?, ?, ?)");
  if (!event) return event.error();
  auto artifact = database.prepare("INSERT INTO artifacts VALUES (?, ?, ?, ?, ?, ?)");
  if (!artifact) return artifact.error();
  const auto last = database.integer_of("SELECT MAX(position) FROM events");
  if (!last) return last.error();
  return EventWriter(std::move(*source), std::move(*event), std::move(*artifact), *last);
}

Status EventWriter::append(Database& database, std::span<const Event> events) {
  if (auto begun = database.execute("BEGIN IMMEDIATE", "beginning a transaction"); !begun) return begun;
  Status status = insert_all(events);
  if (status) status = database.execute("COMMIT", "committing");
  if (!status) {
    // SQLite may have rolled back by itself.
    if (database.in_transaction()) (void)database.execute("ROLLBACK", "rolling back");
    return status;
  }
  last_ += static_cast<std::int64_t>(events.size());
  return {};
}

Status EventWriter::insert_all(std::span<const Event> events) {
  std::int64_t position = last_;
  for (const Event& event : events) {
    if (auto inserted = insert(++position, event); !inserted) return inserted;
  }
  return {};
}

Status EventWriter::insert(std::int64_t position, const Event& event) {
  const Child* child = child_of(event);
  const Digest digest = child ? child->source.digest() : Digest();
  if (child) {
    const std::string files = to_json(child->source);
    const Status stored = source_.bind_blob(1, bytes_of(digest)).bind_text(2, files).run();
    if (!stored) return stored;
    event_.bind_blob(2, bytes_of(digest));
  }
  const std::string body = to_json(slim(event));
  if (auto stored = event_.bind(1, position).bind_text(3, body).run(); !stored) return stored;
  if (const auto* proposed = std::get_if<ProposalArrived>(&event)) return insert_reply(position, *proposed);
  const auto* arrived = std::get_if<EvaluationArrived>(&event);
  return arrived ? insert_artifacts(position, *arrived) : Status();
}

Status EventWriter::insert_reply(std::int64_t position, const ProposalArrived& event) {
  if (!event.proposal.reply) return {};
  const std::string text = to_json(*event.proposal.reply);
  return artifact_.bind(1, position)
      .bind(2, 0)
      .bind(3, static_cast<std::int64_t>(event.ticket.value))
      .bind(4, kReplyAttempt)
      .bind_text(5, kReplyName)
      .bind_blob(6, text)
      .run();
}

Status EventWriter::insert_artifacts(std::int64_t position, const EvaluationArrived& event) {
  std::int64_t ordinal = 0;
  for (const Artifact& artifact : event.evaluation.report().artifacts) {
    const Status stored = artifact_.bind(1, position)
                              .bind(2, ordinal++)
                              .bind(3, number_of(event.program))
                              .bind(4, event.attempt)
                              .bind_text(5, artifact.name)
                              .bind_blob(6, artifact.text)
                              .run();
    if (!stored) return stored;
  }
  return {};
}

Status replay_events(const Database& database, std::uint64_t after,
                     const std::function<Status(std::uint64_t, const Event&)>& visit) {
  auto rows = database.prepare(
      "SELECT e.position, e.body, e.source, s.files FROM events e LEFT JOIN sources s ON s.digest = e.source "
      "WHERE e.position > ? ORDER BY e.position");
  if (!rows) return rows.error();
  auto expected = static_cast<std::int64_t>(after);
  rows->bind(1, expected);
  for (;;) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return {};
    if (rows->integer(0) != ++expected) return corrupt(expected, "an event is missing");
    const auto event = event_in(*rows);
    if (!event) return event.error();
    const Status visited = visit(static_cast<std::uint64_t>(expected), *event);
    if (!visited) return visited;
  }
}

Result<std::vector<Artifact>> read_artifacts(const Database& database, ProgramId program,
                                             std::uint32_t attempt) {
  auto rows = database.prepare(
      "SELECT name, text FROM artifacts WHERE program = ? AND attempt = ? ORDER BY position, ordinal");
  if (!rows) return rows.error();
  rows->bind(1, number_of(program)).bind(2, attempt);
  std::vector<Artifact> artifacts;
  for (;;) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return artifacts;
    artifacts.push_back({std::string(rows->bytes(0)), std::string(rows->bytes(1))});
  }
}

Result<std::optional<KeptReply>> read_reply(const Database& database, TicketId ticket) {
  auto rows = database.prepare("SELECT text FROM artifacts WHERE program = ? AND attempt = ?");
  if (!rows) return rows.error();
  rows->bind(1, static_cast<std::int64_t>(ticket.value)).bind(2, kReplyAttempt);
  const auto row = rows->step();
  if (!row) return row.error();
  if (!*row) return std::optional<KeptReply>();
  auto reply = from_json<KeptReply>(rows->bytes(0));
  if (!reply)
    return fail(ErrorCode::corrupt, describe(reply.error()),
                "reply to ticket " + std::to_string(ticket.value));
  return std::optional(std::move(*reply));
}

}  // namespace kernelsmith::detail
