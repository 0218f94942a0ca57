// A reader in another process, whose transaction does not end.
#include <csignal>

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_support.hpp"

namespace kernelsmith {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Reads until it is killed.
class Reader {
 public:
  explicit Reader(const std::string& database) {
    int ready[2] = {};
    if (::pipe(ready) != 0) throw std::runtime_error("pipe");
    id_ = ::fork();
    if (id_ == 0) read_for_ever(database.c_str(), ready[1]);
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
  }
  ~Reader() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::string id() const { return std::to_string(id_); }

 private:
  [[noreturn]] static void read_for_ever(const char* database, int ready) {
    sqlite3* handle = nullptr;
    const bool reads =
        sqlite3_open_v2(database, &handle, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
        sqlite3_exec(handle, "BEGIN; SELECT COUNT(*) FROM events", nullptr, nullptr, nullptr) == SQLITE_OK;
    if (reads && ::write(ready, "r", 1) == 1) ::pause();
    ::_exit(1);
  }

  pid_t id_ = 0;
};

/// Some 96 MB.
void append_much(RunStore& store, std::uint64_t first) {
  for (std::uint64_t i = first; i < first + 96; ++i) {
    const std::string text = "// " + std::to_string(i) + "\n" + std::string(std::size_t{1} << 20, 'x');
    const Event event = ProposalArrived{
        {i}, {.outcome = Child{sample::source(text), Origin::tune, {}}, .cost = {}, .prompt = {}}};
    const Status appended = store.append({&event, 1});
    ASSERT_TRUE(appended) << describe(appended.error());
  }
}

TEST(LogWatch, AReaderWhoseTransactionDoesNotEndIsNamedOnce) {
  const TemporaryFolder folder;
  const auto store = RunStore::create(folder / "r", "").value();
  std::vector<std::string> told;
  store->on_warning([&](const std::string& message) { told.push_back(message); });
  append_much(*store, 1);
  EXPECT_TRUE(told.empty()) << "the log is written back";
  const Reader reader(folder / "r" / "run.db");
  append_much(*store, 1000);
  EXPECT_THAT(told,
              ElementsAre(AllOf(HasSubstr("run.db-wal grows"), HasSubstr("(process " + reader.id() + ")"))));
}

}  // namespace
}  // namespace kernelsmith
