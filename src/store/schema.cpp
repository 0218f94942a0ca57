#include "schema.hpp"

#include <map>
#include <string>

namespace kernelsmith::detail {
namespace {

/// "ksmt". file(1) and kernelsmith recognise the file by it.
constexpr std::int64_t kApplicationId = 0x6b736d74;
constexpr std::int64_t kVersion = 2;
constexpr std::int64_t kFirstWithChecksums = 2;
/// The page size of new databases. Seven kernels of 2 KB fill such a page. With SQLite's 4,096 bytes, one
/// kernel would leave half of a page empty.
constexpr int kPageBytes = 16384;

constexpr const char* kTables = R"(
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE sources (digest BLOB PRIMARY KEY, files TEXT NOT NULL) STRICT;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    source BLOB REFERENCES sources(digest),
    body TEXT NOT NULL,
    checksum BLOB NOT NULL
  ) STRICT;
  CREATE TABLE artifacts (
    position INTEGER NOT NULL REFERENCES events(position),
    ordinal INTEGER NOT NULL,
    program INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    name TEXT NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (position, ordinal)
  ) STRICT;
  CREATE INDEX artifacts_of ON artifacts (program, attempt);
)";

std::string tables_of(std::int64_t version) {
  std::string tables = kTables;
  constexpr std::string_view kColumn = ",\n    checksum BLOB NOT NULL";
  if (version < kFirstWithChecksums) tables.erase(tables.find(kColumn), kColumn.size());
  return tables;
}

/// The schema of a database by name: tables, indexes, views and triggers with their SQL text.
Result<std::map<std::string, std::string>> objects_of(const Database& database) {
  auto rows = database.prepare("SELECT name, type || ' ' || COALESCE(sql, '') FROM sqlite_schema");
  if (!rows) return rows.error();
  std::map<std::string, std::string> objects;
  for (;;) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return objects;
    objects.emplace(rows->bytes(0), rows->bytes(1));
  }
}

/// Checks the schema, because run folders are passed on and a view or trigger in one would be executed here.
Status check_objects(const Database& database, std::int64_t version, const std::filesystem::path& file) {
  auto model = Database::open(":memory:", Database::Mode::create);
  if (!model) return model.error();
  if (Status made = model->execute(tables_of(version), "creating the tables"); !made) return made;
  const auto expected = objects_of(*model);
  if (!expected) return expected.error();
  const auto found = objects_of(database);
  if (!found) return found.error();
  if (*found == *expected) return {};
  std::string name;
  for (const auto& [one, text] : *found)
    if (const auto ours = expected->find(one); ours == expected->end() || ours->second != text) name = one;
  return fail(ErrorCode::corrupt,
              name.empty() ? "a table of a run is missing" : "\"" + name + "\" is not as a run has it",
              file.string(), "kernelsmith did not write this database; restore the run folder from a copy");
}

}  // namespace

Result<bool> has_checksums(const Database& database) {
  const auto version = database.integer_of("PRAGMA user_version");
  if (!version) return version.error();
  return *version >= kFirstWithChecksums;
}

Status create_schema(Database& database, std::string_view run_id) {
  // This is one transaction. If it is interrupted, our id is missing, and check_schema() refuses the file.
  const std::string script = "PRAGMA page_size = " + std::to_string(kPageBytes) + ";BEGIN;" +
                             tables_of(kVersion) +
                             "PRAGMA application_id = " + std::to_string(kApplicationId) +
                             ";PRAGMA user_version = " + std::to_string(kVersion) +
                             ";INSERT INTO meta VALUES ('run_id', '" + std::string(run_id) + "');COMMIT;";
  return database.execute(script, "creating the tables");
}

Status check_schema(const Database& database, const std::filesystem::path& file) {
  const auto application = database.integer_of("PRAGMA application_id");
  if (!application) return application.error();
  if (*application != kApplicationId) {
    return fail(ErrorCode::corrupt, "not a run's database, or its creation was interrupted", file.string(),
                "remove the folder and start the run again");
  }
  const auto version = database.integer_of("PRAGMA user_version");
  if (!version) return version.error();
  if (*version < 1 || *version > kVersion) {
    return fail(ErrorCode::version,
                "written in format " + std::to_string(*version) +
                    ", and this kernelsmith reads formats 1 to " + std::to_string(kVersion),
                file.string(), "use the version of kernelsmith that made the run");
  }
  return check_objects(database, *version, file);
}

}  // namespace kernelsmith::detail
