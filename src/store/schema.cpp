#include "schema.hpp"

namespace kernelsmith::detail {
namespace {

/// "ksmt": what file(1) and we know the file by.
constexpr std::int64_t kApplicationId = 0x6b736d74;
constexpr std::int64_t kVersion = 1;

constexpr const char* kTables = R"(
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE sources (digest BLOB PRIMARY KEY, files TEXT NOT NULL) STRICT;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    source BLOB REFERENCES sources(digest),
    body TEXT NOT NULL
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

}  // namespace

Status create_schema(Database& database, std::string_view run_id) {
  // One transaction: where it ends half-way there is no id of ours, and check_schema() refuses the file.
  const std::string script = "BEGIN;" + std::string(kTables) +
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
  if (*version != kVersion) {
    return fail(ErrorCode::version,
                "written in format " + std::to_string(*version) + ", and this kernelsmith reads format " +
                    std::to_string(kVersion),
                file.string(), "use the version of kernelsmith that made the run");
  }
  return {};
}

}  // namespace kernelsmith::detail
