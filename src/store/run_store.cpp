#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <utility>

#include <kernelsmith/core/untrusted_files.hpp>
#include <kernelsmith/store/run_store.hpp>

#include "event_table.hpp"
#include "log_watch.hpp"
#include "run_files.hpp"
#include "schema.hpp"
#include "sqlite.hpp"

namespace kernelsmith {
namespace fs = std::filesystem;
using detail::Database;
using detail::EventWriter;

namespace {

constexpr const char* kConfiguration = "run.yaml";
constexpr const char* kDatabase = "run.db";
constexpr const char* kLog = "run.db-wal";
constexpr const char* kLock = "run.lock";
constexpr const char* kBest = "best";
constexpr const char* kFreshBest = "best.new";
constexpr const char* kFreshDatabase = "run.db.new";

// The names that create() makes before the database, besides those in `more`.
constexpr std::array kBeforeDatabase{kLock, kConfiguration, "run.yaml.new",
                                     kBest, kFreshDatabase, "run.db.new-journal"};

constexpr std::size_t kRunIdBytes = 16;
constexpr std::size_t kMostConfigurationBytes = std::size_t{4} << 20;

/// The first part of each path, which is an entry of the run folder itself.
std::vector<std::string> roots_of(std::span<const SourceFile> files) {
  std::vector<std::string> roots;
  for (const SourceFile& file : files) roots.push_back(file.path.substr(0, file.path.find('/')));
  return roots;
}

/// Whether the folder has only the remains of a create() that was killed before its database existed. Such a
/// run never reported anything, so it may be replaced.
bool is_left_over(const fs::path& folder, std::span<const SourceFile> more) {
  std::error_code error;
  if (!fs::exists(folder / kLock, error)) return false;
  if (fs::exists(folder / kBest, error) && !fs::is_empty(folder / kBest, error)) return false;
  const auto roots = roots_of(more);
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool ours = std::ranges::find(kBeforeDatabase, name) != kBeforeDatabase.end() ||
                      std::ranges::find(roots, name) != roots.end();
    if (!ours) return false;
  }
  return !error;
}

Status require_no_run(const fs::path& folder, std::span<const SourceFile> more) {
  std::error_code error;
  if (!fs::exists(folder, error)) return {};
  if (!fs::is_directory(folder, error)) {
    return fail(ErrorCode::invalid_argument, "not a folder", folder.string(), "choose another name");
  }
  if (!fs::is_empty(folder, error) && !is_left_over(folder, more)) {
    return fail(ErrorCode::invalid_argument, "the folder exists and is not empty", folder.string(),
                "choose another folder, or resume the run that is there");
  }
  return {};
}

Status require_run(const fs::path& folder) {
  std::error_code error;
  // SQLite opens files next to a database by their names, and would block on a pipe.
  for (const char* name : {"run.db-journal", "run.db-wal", "run.db-shm"}) {
    const auto type = fs::symlink_status(folder / name, error).type();
    if (type != fs::file_type::not_found && type != fs::file_type::regular)
      return fail(ErrorCode::corrupt, "this is not a regular file", (folder / name).string(), "remove it");
  }
  if (fs::is_regular_file(fs::symlink_status(folder / kDatabase, error))) return {};
  const bool begun = fs::exists(folder / kLock, error);
  return fail(ErrorCode::not_found, "no run here: run.db is missing", folder.string(),
              begun ? "if the creation of the run was interrupted, begin it again with the same folder" : "");
}

/// Removes the remains of a failed create(), so that it can be repeated.
void discard(const fs::path& folder, std::span<const SourceFile> more, bool folder_too) {
  std::error_code ignored;
  for (const char* name : {kDatabase, "run.db-wal", "run.db-shm"}) fs::remove(folder / name, ignored);
  for (const std::string& name : roots_of(more)) fs::remove_all(folder / name, ignored);
  for (const char* name : kBeforeDatabase) fs::remove_all(folder / name, ignored);
  if (folder_too) fs::remove(folder, ignored);
}

/// Writes the files and flushes them and their folders to the disk.
Status write_files(const fs::path& folder, std::span<const SourceFile> files) {
  for (const SourceFile& file : files) {
    const fs::path path = folder / file.path;
    if (auto made = make_folders(path.parent_path()); !made) return made;
    if (auto written = write_new_file(path, file.text, Flush::yes); !written) return written;
    if (auto flushed = flush_folder(path.parent_path()); !flushed) return flushed;
  }
  return {};
}

/// Makes the database under another name first, so that a database with the final name is complete.
Status make_database(const fs::path& folder, std::string_view run_id) {
  const fs::path fresh = folder / kFreshDatabase;
  std::error_code error;
  fs::remove(fresh, error);  // remains of a killed process
  fs::remove(folder / "run.db.new-journal", error);
  {
    auto made = Database::open(fresh, Database::Mode::create);
    if (!made) return made.error();
    if (auto schema = detail::create_schema(*made, run_id); !schema) return schema;
  }
  fs::rename(fresh, folder / kDatabase, error);
  if (error) return system_error("cannot name the database", folder / kDatabase, error.value());
  return flush_folder(folder);
}

Status set_up_writer(Database& database, Durability durability) {
  const auto mode = database.text_of("PRAGMA journal_mode = WAL");
  if (!mode) return mode.error();
  if (*mode != "wal") {
    return fail(ErrorCode::unsupported, "this file system cannot hold a database with a write-ahead log",
                *mode, "use a local disk");
  }
  const bool power = durability == Durability::power;
  return database.execute(
      std::string("PRAGMA foreign_keys = ON; PRAGMA synchronous = ") + (power ? "FULL" : "NORMAL"),
      "setting up the database");
}

/// A name for the report that differs from the program's files.
std::string report_name(const Source& source) {
  std::string name = "report.json";
  const auto taken = [&](const SourceFile& file) {
    return file.path == name || file.path.starts_with(name + "/");
  };
  while (std::ranges::any_of(source.files(), taken)) name.insert(0, "_");
  return name;
}

Status fill_folder(const fs::path& folder, const Source& source, std::string_view report) {
  if (auto written = write_files(folder, source.files()); !written) return written;
  if (auto written = write_new_file(folder / report_name(source), report, Flush::yes); !written)
    return written;
  return flush_folder(folder);
}

}  // namespace

struct RunStore::Impl {
  fs::path folder;
  std::string run_id;
  std::optional<detail::FolderLock> lock;  ///< absent if the run is only read
  Database database;
  std::optional<EventWriter> writer;
  std::optional<detail::LogWatch> log_watch;  ///< only for the writer
  /// The identities, when they were opened, of the files that the writer writes.
  std::vector<std::pair<const char*, std::optional<detail::FileIdentity>>> opened_files;

  Status require_writer() const {
    if (writer) return {};
    return fail(ErrorCode::permission, "the run was opened for reading only", folder.string());
  }

  Status create_files(std::string_view configuration, std::span<const SourceFile> more,
                      Durability durability);
  Status open_database(Database::Mode mode);
  Status prepare_writer(Durability durability);
};

Status RunStore::Impl::create_files(std::string_view configuration, std::span<const SourceFile> more,
                                    Durability durability) {
  // The database comes last: a folder that has one has everything else.
  if (auto written = replace_file(folder / kConfiguration, configuration, Flush::yes); !written)
    return written;
  if (auto written = write_files(folder, more); !written) return written;
  if (auto made = make_folders(folder / kBest); !made) return made;
  auto id = detail::random_hex(kRunIdBytes);
  if (!id) return id.error();
  if (auto made = make_database(folder, *id); !made) return made;
  if (auto opened = open_database(Database::Mode::write); !opened) return opened;
  return prepare_writer(durability);
}

Status RunStore::Impl::open_database(Database::Mode mode) {
  auto opened = Database::open(folder / kDatabase, mode);
  if (!opened) return opened.error();
  database = std::move(*opened);
  if (auto ours = detail::check_schema(database, folder / kDatabase); !ours) return ours;
  auto id = database.text_of("SELECT value FROM meta WHERE key = 'run_id'");
  if (!id) return id.error();
  run_id = std::move(*id);
  return {};
}

Status RunStore::Impl::prepare_writer(Durability durability) {
  if (auto ready = set_up_writer(database, durability); !ready) return ready;
  auto prepared = EventWriter::prepare(database);
  if (!prepared) return prepared.error();
  writer.emplace(std::move(*prepared));
  log_watch.emplace(folder / kDatabase, folder / kLog);
  for (const char* name : {kDatabase, kLog})
    opened_files.emplace_back(name, detail::identity_of(folder / name));
  return {};
}

RunStore::RunStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
bool RunStore::is_in_use(const fs::path& folder) { return detail::is_locked(folder, kLock); }

RunStore::~RunStore() = default;

Status RunStore::check_free(const fs::path& folder, std::span<const SourceFile> more) {
  return require_no_run(folder, more);
}

Result<std::unique_ptr<RunStore>> RunStore::create(const fs::path& folder, std::string_view configuration,
                                                   Durability durability, std::span<const SourceFile> more) {
  if (auto free = require_no_run(folder, more); !free) return free.error();
  std::error_code ignored;
  const bool is_new = !fs::exists(folder, ignored);
  if (auto made = make_folders(folder); !made) return made.error();
  auto lock = detail::lock_folder(folder, kLock);
  if (!lock) return lock.error();
  // Another process may have made a run here since the first check.
  if (auto free = require_no_run(folder, more); !free) return free.error();
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  impl->lock = std::move(*lock);
  if (auto created = impl->create_files(configuration, more, durability); !created) {
    impl->writer.reset();
    impl->database = {};
    discard(folder, more, is_new);
    return created.error();
  }
  return std::unique_ptr<RunStore>(new RunStore(std::move(impl)));
}

Result<std::unique_ptr<RunStore>> RunStore::open(const fs::path& folder, Durability durability) {
  if (auto there = require_run(folder); !there) return there.error();
  auto lock = detail::lock_folder(folder, kLock);
  if (!lock) return lock.error();
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  impl->lock = std::move(*lock);
  if (auto opened = impl->open_database(Database::Mode::write); !opened) return opened.error();
  if (auto ready = impl->prepare_writer(durability); !ready) return ready.error();
  return std::unique_ptr<RunStore>(new RunStore(std::move(impl)));
}

Result<std::unique_ptr<RunStore>> RunStore::open_read_only(const fs::path& folder) {
  if (auto there = require_run(folder); !there) return there.error();
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  if (auto opened = impl->open_database(Database::Mode::read); !opened) return opened.error();
  return std::unique_ptr<RunStore>(new RunStore(std::move(impl)));
}

const std::string& RunStore::run_id() const { return impl_->run_id; }
const fs::path& RunStore::folder() const { return impl_->folder; }
fs::path RunStore::best_folder() const { return impl_->folder / kBest; }

Result<std::string> RunStore::configuration() const {
  return read_regular_file(impl_->folder / kConfiguration, kMostConfigurationBytes);
}

Status RunStore::write_configuration(std::string_view configuration) {
  if (auto allowed = require_intact(); !allowed) return allowed;
  return replace_file(impl_->folder / kConfiguration, configuration, Flush::yes);
}

Status RunStore::require_intact() const {
  if (auto allowed = impl_->require_writer(); !allowed) return allowed;
  return check();
}

Status RunStore::check() const {
  for (const auto& [name, identity] : impl_->opened_files)
    if (identity && detail::identity_of(impl_->folder / name) != identity)
      return fail(
          ErrorCode::io,
          std::string(name) +
              " is no longer what it was: it or its folder was deleted, replaced or renamed while the "
              "run was written",
          impl_->folder.string(), "if the folder was only renamed, resume the run under its new name");
  return {};
}

Status RunStore::append(std::span<const Event> events) {
  if (auto allowed = require_intact(); !allowed) return allowed;
  Status appended = impl_->writer->append(impl_->database, events);
  if (appended) impl_->log_watch->look();
  return appended;
}

void RunStore::on_warning(std::function<void(const std::string&)> tell) {
  if (impl_->log_watch) impl_->log_watch->tell_to(std::move(tell));
}

Status RunStore::replay(std::uint64_t after,
                        const std::function<Status(std::uint64_t, const Event&)>& visit) const {
  return detail::replay_events(impl_->database, after, visit);
}

Result<std::uint64_t> RunStore::last_position() const {
  const auto last = impl_->database.integer_of("SELECT MAX(position) FROM events");
  if (!last) return last.error();
  return static_cast<std::uint64_t>(*last);
}

Result<std::vector<Artifact>> RunStore::artifacts(ProgramId program, std::uint32_t attempt) const {
  return detail::read_artifacts(impl_->database, program, attempt);
}

Result<std::optional<KeptReply>> RunStore::reply(TicketId ticket) const {
  return detail::read_reply(impl_->database, ticket);
}

Status RunStore::write_best(const Individual& best, std::string_view report_json) {
  if (auto allowed = require_intact(); !allowed) return allowed;
  const fs::path fresh = impl_->folder / kFreshBest;
  std::error_code error;
  fs::remove_all(fresh, error);  // remains of a killed process
  if (error) return system_error("cannot remove", fresh, error.value());
  if (auto made = make_folders(fresh); !made) return made;
  if (auto filled = fill_folder(fresh, best.program->source, report_json); !filled) {
    fs::remove_all(fresh, error);
    return filled;
  }
  return detail::replace_folder(best_folder(), fresh);
}

Status RunStore::remove_best() {
  if (auto allowed = impl_->require_writer(); !allowed) return allowed;
  std::error_code error;
  fs::remove_all(best_folder(), error);
  return error ? system_error("cannot remove", best_folder(), error.value()) : Status{};
}

Status RunStore::save_program(const Individual& program, std::string_view report_json,
                              const fs::path& folder) {
  if (auto made = make_folders(folder); !made) return made;
  return fill_folder(folder, program.program->source, report_json);
}

Status RunStore::integrity_check() const {
  const auto corrupt = [this](std::string message) {
    return fail(ErrorCode::corrupt, std::move(message), (impl_->folder / kDatabase).string(),
                "restore the run folder from a copy");
  };
  const Database& database = impl_->database;
  const auto pages = database.text_of("PRAGMA integrity_check(1)");
  if (!pages) return pages.error();
  if (*pages != "ok") return corrupt(*pages);
  const auto dangling = database.integer_of("SELECT COUNT(*) FROM pragma_foreign_key_check");
  if (!dangling) return dangling.error();
  if (*dangling != 0) return corrupt("references that lead nowhere: " + std::to_string(*dangling));
  const auto missing = database.integer_of("SELECT COALESCE(MAX(position), 0) - COUNT(*) FROM events");
  if (!missing) return missing.error();
  if (*missing != 0) return corrupt("events that are missing: " + std::to_string(*missing));
  return replay(0, [](std::uint64_t, const Event&) { return Status(); });
}

}  // namespace kernelsmith
