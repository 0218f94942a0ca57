#include "sqlite.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace kernelsmith::detail {
namespace {

/// Readers wait this long for a writer's recovery or checkpoint. Because of the WAL they never wait for its
/// transactions.
constexpr int kPatienceMs = 5000;

bool out_of_space(int system_error) {
  return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
}

int last_errno(sqlite3_file* file) {
  int number = 0;
  if (file && file->pMethods) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
  return number;
}

/// SQLite reports only ENOSPC as `full`. A quota or a limit appears only as the errno of the file that
/// failed.
bool a_file_is_out_of_space(sqlite3* handle) {
  for (const int which : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER}) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(handle, "main", which, &file);
    if (out_of_space(last_errno(file))) return true;
  }
  return false;
}

ErrorCode code_for(sqlite3* handle, int result) {
  // The log's index is extended by a separate write whose errno is not kept.
  if (result == SQLITE_IOERR_SHMSIZE) return ErrorCode::disk_full;
  switch (result & 0xff) {
    case SQLITE_FULL:
      return ErrorCode::disk_full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::busy;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
      return ErrorCode::corrupt;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return ErrorCode::permission;
    case SQLITE_MISUSE:
      return ErrorCode::internal;
    default:
      return a_file_is_out_of_space(handle) ? ErrorCode::disk_full : ErrorCode::io;
  }
}

std::string_view hint_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::disk_full:
      return "make room and resume the run, which holds all up to its last commit; begin again if it has no "
             "folder yet";
    case ErrorCode::corrupt:
      return "restore the run folder from a copy";
    default:
      return {};
  }
}

/// The error of the connection's last call.
Error last_error(sqlite3* handle, std::string_view while_doing = {}) {
  if (!handle) return fail(ErrorCode::io, "out of memory");
  const ErrorCode code = code_for(handle, sqlite3_extended_errcode(handle));
  const char* file = sqlite3_db_filename(handle, "main");
  const std::string doing = while_doing.empty() ? "" : " (" + std::string(while_doing) + ")";
  return fail(code, sqlite3_errmsg(handle) + doing, file ? file : "", std::string(hint_for(code)));
}

/// Whether no process writes the database. Then SQLite does not need its own files next to it, which it could
/// not create.
bool is_unchangeable(const std::filesystem::path& file) {
  std::error_code ignored;
  const bool read_only = ::access(file.parent_path().c_str(), W_OK) != 0 && errno == EROFS;
  return read_only && !std::filesystem::exists(file.string() + "-wal", ignored);
}

std::string in_uri(const std::filesystem::path& file) {
  std::string text;
  for (const char c : std::filesystem::absolute(file).string())
    text += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
  return text;
}

}  // namespace

Result<Database> Database::open(const std::filesystem::path& file, Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= mode == Mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (mode == Mode::create) flags |= SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const bool immutable = mode == Mode::read && is_unchangeable(file);
  if (immutable) flags |= SQLITE_OPEN_URI;
  const std::string name = immutable ? "file:" + in_uri(file) + "?immutable=1" : file.string();
  const int result = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  Database database;
  database.handle_.reset(handle);
  if (result != SQLITE_OK) return last_error(handle, "opening " + file.string());
  sqlite3_busy_timeout(handle, kPatienceMs);
  return database;
}

Status Database::execute(const std::string& sql, std::string_view doing) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return last_error(handle_.get(), doing);
  }
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int result =
      sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (result != SQLITE_OK) return last_error(handle_.get());
  return Statement(statement);
}

Result<std::string> Database::text_of(std::string_view sql) const {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement->step();
  if (!row) return row.error();
  if (!*row)
    return fail(ErrorCode::corrupt, "a row is missing", "run.db", std::string(hint_for(ErrorCode::corrupt)));
  return std::string(statement->bytes(0));
}

Result<std::int64_t> Database::integer_of(std::string_view sql) const {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(handle_.get(), index, value);
  return *this;
}

Statement& Statement::bind_text(int index, std::string_view value) {
  sqlite3_bind_text64(handle_.get(), index, value.data() ? value.data() : "", value.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(int index, std::string_view value) {
  sqlite3_bind_blob64(handle_.get(), index, value.data() ? value.data() : "", value.size(), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind_null(int index) {
  sqlite3_bind_null(handle_.get(), index);
  return *this;
}

Result<bool> Statement::step() {
  const int result = sqlite3_step(handle_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return last_error(sqlite3_db_handle(handle_.get()));
}

Status Statement::run() {
  const auto row = step();
  reset();
  if (!row) return row.error();
  return {};
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
  sqlite3_clear_bindings(handle_.get());
}

std::string_view Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(handle_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return {static_cast<const char*>(data), size};
}

}  // namespace kernelsmith::detail
