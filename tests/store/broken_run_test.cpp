// Run folders that are damaged, foreign or from the future.
#include <fstream>

#include <sqlite3.h>

#include "store_support.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

class BrokenRun : public testing::Test {
 protected:
  void SetUp() override {
    const auto store = RunStore::create(run_, "").value();
    ASSERT_TRUE(store->append(sample::events()));
  }

  void execute(const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(database_.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  /// Bytes 16 and 17 of every SQLite database.
  int page_bytes() {
    std::ifstream file(database_, std::ios::binary);
    file.seekg(16);
    const int high = file.get();
    return high * 256 + file.get();
  }

  void overwrite(const std::string& bytes) { std::ofstream(database_, std::ios::binary) << bytes; }

  /// The code with which writers and readers alike are refused.
  ErrorCode refusal() {
    const auto writer = RunStore::open(run_);
    const auto reader = RunStore::open_read_only(run_);
    EXPECT_FALSE(writer);
    EXPECT_FALSE(reader);
    if (writer || reader) return ErrorCode::internal;
    EXPECT_EQ(writer.error().code, reader.error().code);
    EXPECT_FALSE(writer.error().where.empty());
    return writer.error().code;
  }

  ErrorCode replay_failure() {
    const auto store = RunStore::open_read_only(run_).value();
    const Status status = store->replay(0, [](std::uint64_t, const Event&) { return Status(); });
    return status ? ErrorCode::internal : status.error().code;
  }

  TemporaryFolder folder_;
  fs::path run_ = folder_ / "r";
  fs::path database_ = run_ / "run.db";
};

TEST_F(BrokenRun, AFolderWithoutARunIsNotFound) {
  fs::remove(database_);
  EXPECT_EQ(refusal(), ErrorCode::not_found);
}

TEST_F(BrokenRun, AFileThatIsNoDatabaseIsCorrupt) {
  for (const std::string& bytes : {std::string(10000, 'x'), std::string()}) {
    overwrite(bytes);
    EXPECT_EQ(refusal(), ErrorCode::corrupt) << bytes.size();
  }
}

/// What somebody did to the database, and what an error says of it.
struct Damage {
  const char *name, *sql;
  ErrorCode code = ErrorCode::corrupt;
  const char* says = "";
};
void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class DamagedRun : public BrokenRun, public testing::WithParamInterface<Damage> {};

TEST_P(DamagedRun, IsRefused) {
  execute(GetParam().sql);
  EXPECT_EQ(refusal(), GetParam().code);
  EXPECT_NE(RunStore::open(run_).error().message.find(GetParam().says), std::string::npos);
}

const auto name_of_damage = [](const auto& test) { return std::string(test.param.name); };

INSTANTIATE_TEST_SUITE_P(
    , DamagedRun,
    testing::Values(
        Damage{"ANewerFormat", "PRAGMA user_version = 3", ErrorCode::version, "format 3"},
        Damage{"SomebodyElsesDatabase", "PRAGMA application_id = 1"},
        Damage{"AViewInThePlaceOfATable",
               "ALTER TABLE events RENAME TO real; CREATE VIEW events AS WITH RECURSIVE r(n) AS (SELECT 1 "
               "UNION ALL SELECT n + 1 FROM r) SELECT n AS position, NULL AS source, '' AS body FROM r"},
        Damage{"ATrigger", "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM sources; END",
               ErrorCode::corrupt, "\"t\""}),
    name_of_damage);

class DamagedEvents : public DamagedRun {};

TEST_P(DamagedEvents, AreNotReplayed) {
  execute(GetParam().sql);
  EXPECT_EQ(replay_failure(), ErrorCode::corrupt);
  EXPECT_EQ(RunStore::open(run_).value()->integrity_check().error().code, ErrorCode::corrupt);
}

INSTANTIATE_TEST_SUITE_P(
    , DamagedEvents,
    testing::Values(Damage{"OneIsMissing", "DELETE FROM events WHERE position = 2"},
                    Damage{"OneIsNoJson", "UPDATE events SET body = '{}' WHERE position = 2"},
                    Damage{"OneReadsWellAndIsNotWhatWasWritten",
                           "UPDATE events SET body = replace(body, '7', '8') WHERE position = 2"},
                    Damage{"ASourceWasChanged",
                           R"(UPDATE sources SET files = '[{"path":"a","text":"another"}]')"},
                    Damage{"ASourceIsLost", "PRAGMA foreign_keys = OFF; DELETE FROM sources"}),
    name_of_damage);

TEST_F(BrokenRun, WhatStandsBeforeTheFirstFaultIsVisited) {
  std::vector<Event> more;
  for (std::uint64_t n = 0; n < 500; ++n) more.push_back(numbered_event(n));
  ASSERT_TRUE(RunStore::open(run_).value()->append(more));
  const auto visited = [&] {
    std::uint64_t last = 0;
    const Status status = RunStore::open_read_only(run_).value()->replay(
        0, [&](std::uint64_t position, const Event&) { return last = position, Status(); });
    EXPECT_FALSE(status);
    EXPECT_NE(status.error().where.find(std::to_string(last + 1)), std::string::npos);
    return last;
  };
  execute("UPDATE events SET body = '{}' WHERE position = 400");
  EXPECT_EQ(visited(), 399u);
  execute("DELETE FROM events WHERE position = 300");
  EXPECT_EQ(visited(), 299u);
}

/// As versions before the checksums made it.
constexpr const char* kFormat1 = R"(
  CREATE TEMP TABLE kept AS SELECT position, source, body FROM events;
  DROP TABLE events;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    source BLOB REFERENCES sources(digest),
    body TEXT NOT NULL
  ) STRICT;
  INSERT INTO events SELECT * FROM kept;
  PRAGMA user_version = 1;
)";

TEST_F(BrokenRun, ARunWithoutChecksumsIsReadAndGoneOnWith) {
  execute(kFormat1);
  {
    const auto store = RunStore::open(run_).value();
    const auto events = sample::events();
    ASSERT_TRUE(store->append(events));
    EXPECT_EQ(store->last_position().value(), 2 * events.size());
  }
  EXPECT_TRUE(RunStore::open_read_only(run_).value()->integrity_check());
}

TEST_F(BrokenRun, ALockThatLeadsElsewhereIsNotWritten) {
  const fs::path theirs = folder_ / "theirs";
  std::ofstream(theirs) << "a file of the user";
  fs::remove(run_ / "run.lock");
  fs::create_symlink(theirs, run_ / "run.lock");
  EXPECT_FALSE(RunStore::open(run_));
  EXPECT_EQ(fs::file_size(theirs), 18u);
}

TEST_F(BrokenRun, ARunWithPagesOfAnotherSizeIsNone) {
  EXPECT_EQ(page_bytes(), 16384);
  execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM");
  EXPECT_EQ(page_bytes(), 4096) << "as older versions made it";
  const auto store = RunStore::open(run_).value();
  EXPECT_TRUE(store->append(sample::events()));
  EXPECT_TRUE(store->integrity_check());
}

}  // namespace
}  // namespace kernelsmith
