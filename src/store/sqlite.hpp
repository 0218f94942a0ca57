// The part of SQLite that the store needs, with our errors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::detail {

class Statement;

/// A connection. Only one thread at a time may use it.
class Database {
 public:
  enum class Mode { create, write, read };

  static Result<Database> open(const std::filesystem::path& file, Mode mode);

  /// Runs statements without parameters and ignores their rows; `doing` describes the action in errors.
  Status execute(const std::string& sql, std::string_view doing);
  Result<Statement> prepare(std::string_view sql) const;
  /// The first column of the first row.
  Result<std::string> text_of(std::string_view sql) const;
  Result<std::int64_t> integer_of(std::string_view sql) const;

  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement. Parameters are counted from 1 and columns from 0, as in SQLite. Must not outlive its
/// database.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}

  Statement& bind(int index, std::int64_t value);
  /// Bound texts and blobs must live until the next reset().
  Statement& bind_text(int index, std::string_view value);
  Statement& bind_blob(int index, std::string_view value);
  Statement& bind_null(int index);

  /// Goes to the next row. Returns false if there is none.
  Result<bool> step();
  /// Runs a statement that returns no rows, and resets it for the next parameters.
  Status run();
  void reset();

  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  /// The bytes of a column, valid until the next step.
  std::string_view bytes(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace kernelsmith::detail
