#include "event_table.hpp"

#include <algorithm>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include <kernelsmith/config/json.hpp>

#include "schema.hpp"

namespace kernelsmith::detail {
namespace {

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

/// SQLite's integers are signed. The numbers of programs are far below their limit.
std::int64_t number_of(ProgramId program) { return static_cast<std::int64_t>(program.value); }

const Child* child_of(const Event& event) {
  const auto* arrived = std::get_if<ProposalArrived>(&event);
  return arrived ? arrived->proposal.child() : nullptr;
}

// Kept replies are stored as artifacts. They have the ticket's number, and an attempt number that no
// evaluation has.
constexpr std::int64_t kReplyAttempt = -1;
constexpr std::string_view kReplyName = "reply.json";

/// The event for its row, without parts that have their own tables.
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

/// The checksum of an event's row. It prevents damage that SQLite does not notice from becoming a score.
std::string checksum_of(std::int64_t position, std::string_view source, std::string_view body) {
  constexpr std::size_t kBytes = 8;
  const Digest digest =
      DigestBuilder().add(static_cast<std::uint64_t>(position)).add(source).add(body).finish();
  return std::string(bytes_of(digest).substr(0, kBytes));
}

Error corrupt(std::int64_t position, std::string message) {
  return fail(ErrorCode::corrupt, std::move(message), "event " + std::to_string(position),
              "restore the run folder from a copy");
}

Status put_back_source(Event& event, std::string_view digest, std::string_view files) {
  auto source = from_json<Source>(files);
  if (!source || bytes_of(source->digest()) != digest)
    return fail(ErrorCode::corrupt, "a source is not what was written");
  auto* arrived = std::get_if<ProposalArrived>(&event);
  auto* child = arrived ? std::get_if<Child>(&arrived->proposal.outcome) : nullptr;
  if (!child) return fail(ErrorCode::corrupt, "the journal has a source for an event that needs none");
  child->source = std::move(*source);
  return {};
}

/// The columns of an event that replay reads.
struct Row {
  std::int64_t position = 0;
  std::string body;
  std::optional<std::string> digest;
  std::string files;
  std::optional<std::string> checksum;
};

Row row_in(const Statement& statement) {
  Row row{statement.integer(0), std::string(statement.bytes(1)), {}, {}, {}};
  if (!statement.is_null(4)) row.checksum = statement.bytes(4);
  if (statement.is_null(2)) return row;
  row.digest = statement.bytes(2);
  row.files = statement.bytes(3);
  return row;
}

Result<Event> event_in(const Row& row) {
  if (row.checksum && *row.checksum != checksum_of(row.position, row.digest.value_or(""), row.body))
    return corrupt(row.position, "an event is not what was written: its checksum differs");
  auto event = from_json<Event>(row.body);
  if (!event) return corrupt(row.position, "an event cannot be read: " + event.error().message);
  if (row.digest) {
    const Status restored = put_back_source(*event, *row.digest, row.files);
    if (!restored) return corrupt(row.position, restored.error().message);
  }
  return event;
}

using Events = std::vector<Result<Event>>;

Events events_in(const std::vector<Row>& rows) {
  Events events;
  events.reserve(rows.size());
  for (const Row& row : rows) events.push_back(event_in(row));
  return events;
}

/// Reads events in order. Decoding takes most of a replay's time, so after the first event batches are
/// decoded in advance on other threads.
class EventReader {
 public:
  EventReader(Statement rows, std::int64_t after) : rows_(std::move(rows)), expected_(after) {
    rows_.bind(1, after);
  }

  /// The next event; empty after the last one.
  Result<Events> next() {
    const std::size_t wanted = std::exchange(begun_, true) ? kAhead : 1;  // the first batch has one event,
                                                                          // for readers that need no more
    while (!ended_ && batches_.size() < wanted) read_batch();
    if (batches_.empty()) return end_ ? Result<Events>(Events()) : end_.error();
    auto batch = batches_.front().get();
    batches_.pop_front();
    return batch;
  }

 private:
  static constexpr std::size_t kMostRows = 128;  ///< enough work to be worth starting a thread
  /// Batches under way. Four threads decode faster than the search applies events; more would only use
  /// memory.
  static inline const std::size_t kAhead = 1 + std::clamp(std::thread::hardware_concurrency(), 1U, 4U);

  void read_batch() {
    std::vector<Row> rows;
    while (rows.size() < size_ && !ended_) {
      if (Status read = read_row(rows); !read) end_ = std::move(read);
    }
    if (rows.empty()) return;
    // One row needs no thread. Without a thread get() decodes the batch.
    const auto policy = size_ == 1 ? std::launch::deferred : std::launch::async | std::launch::deferred;
    batches_.push_back(std::async(policy, [rows = std::move(rows)] { return events_in(rows); }));
    size_ = std::min(2 * size_, kMostRows);
  }

  Status read_row(std::vector<Row>& rows) {
    const auto more = rows_.step();
    ended_ = !more || !*more;
    if (!more) return more.error();
    if (ended_) return {};
    rows.push_back(row_in(rows_));
    if (rows.back().position == ++expected_) return {};
    rows.pop_back();
    ended_ = true;
    return corrupt(expected_, "an event is missing");
  }

  Statement rows_;
  std::int64_t expected_;
  std::size_t size_ = 1;  ///< size of the next batch
  bool begun_ = false, ended_ = false;
  Status end_;  ///< the error that ended the reading, if any
  std::deque<std::future<Events>> batches_;
};

}  // namespace

EventWriter::EventWriter(Statement source, Statement event, Statement artifact, bool checksums,
                         std::int64_t last)
    : source_(std::move(source)),
      event_(std::move(event)),
      artifact_(std::move(artifact)),
      checksums_(checksums),
      last_(last) {}

Result<EventWriter> EventWriter::prepare(Database& database) {
  auto source = database.prepare("INSERT OR IGNORE INTO sources VALUES (?, ?)");
  if (!source) return source.error();
  const auto checksums = has_checksums(database);
  if (!checksums) return checksums.error();
  auto event = database.prepare(*checksums ? "INSERT INTO events VALUES (?, ?, ?, ?)"
                                           : "INSERT INTO events VALUES (?, ?, ?)");
  if (!event) return event.error();
  auto artifact = database.prepare("INSERT INTO artifacts VALUES (?, ?, ?, ?, ?, ?)");
  if (!artifact) return artifact.error();
  const auto last = database.integer_of("SELECT MAX(position) FROM events");
  if (!last) return last.error();
  return EventWriter(std::move(*source), std::move(*event), std::move(*artifact), *checksums, *last);
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
    Status stored = source_.bind_blob(1, bytes_of(digest)).bind_text(2, files).run();
    if (!stored) return stored;
    event_.bind_blob(2, bytes_of(digest));
  }
  const std::string body = to_json(slim(event));
  const std::string checksum = checksum_of(position, child ? bytes_of(digest) : "", body);
  if (checksums_) event_.bind_blob(4, checksum);
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
  // The earlier program's artifacts are already stored.
  if (event.source == EvaluationSource::same_binary) return {};
  std::int64_t ordinal = 0;
  for (const Artifact& artifact : event.evaluation.report().artifacts) {
    Status stored = artifact_.bind(1, position)
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
  const auto checksums = has_checksums(database);
  if (!checksums) return checksums.error();
  auto rows = database.prepare(
      std::string("SELECT e.position, e.body, e.source, s.files, ") + (*checksums ? "e.checksum" : "NULL") +
      " FROM events e LEFT JOIN sources s ON s.digest = e.source WHERE e.position > ? ORDER BY e.position");
  if (!rows) return rows.error();
  EventReader reader(std::move(*rows), static_cast<std::int64_t>(after));
  for (std::uint64_t position = after;;) {
    const auto events = reader.next();
    if (!events) return events.error();
    if (events->empty()) return {};
    for (const Result<Event>& event : *events) {
      if (!event) return event.error();
      Status visited = visit(++position, *event);
      if (!visited) return visited;
    }
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
