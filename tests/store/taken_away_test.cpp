// A run folder that somebody touches while it is written.
#include <fstream>

#include "store_support.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;

class TakenAway : public testing::Test {
 protected:
  ErrorCode append() {
    const Event event = numbered_event(++events_);
    const Status appended = store_->append({&event, 1});
    return appended ? ErrorCode::internal : appended.error().code;
  }

  /// Nothing is written any more, and nothing of the folder is made anew.
  void expect_gone() {
    const Status there = store_->check();
    ASSERT_FALSE(there);
    EXPECT_EQ(there.error().code, ErrorCode::io);
    EXPECT_EQ(there.error().where, run_.string());
    EXPECT_EQ(append(), ErrorCode::io);
    const bool existed = fs::exists(run_);
    EXPECT_EQ(store_->write_best(best_, "{}").error().code, ErrorCode::io);
    EXPECT_EQ(store_->write_configuration("new").error().code, ErrorCode::io);
    EXPECT_EQ(fs::exists(run_), existed);
  }

  void SetUp() override {
    ASSERT_EQ(append(), ErrorCode::internal);
    ASSERT_TRUE(store_->check());
  }

  TemporaryFolder folder_;
  const fs::path run_ = folder_ / "r";
  std::unique_ptr<RunStore> store_ = RunStore::create(run_, "").value();
  const Individual best_{std::make_shared<Program>(Program{{1}, sample::source(), {}, Origin::seed}),
                         sample::acceptance()};
  std::uint64_t events_ = 0;
};

TEST_F(TakenAway, TheFolderIsDeleted) {
  fs::remove_all(run_);
  expect_gone();
}

TEST_F(TakenAway, TheDatabaseIsReplacedOrDeleted) {
  fs::copy_file(run_ / "run.db", run_ / "copy");
  fs::rename(run_ / "copy", run_ / "run.db");
  expect_gone();
  fs::remove(run_ / "run.db");
  expect_gone();
}

TEST_F(TakenAway, ALogThatIsDeletedLosesNothingThatWasCommitted) {
  fs::remove(run_ / "run.db-wal");
  expect_gone();
  store_.reset();
  EXPECT_EQ(events_of(*RunStore::open(run_).value()).size(), 1u);
}

TEST_F(TakenAway, ARenamedFolderHoldsTheRunUnderItsNewName) {
  fs::rename(run_, folder_ / "s");
  expect_gone();
  store_.reset();
  EXPECT_EQ(events_of(*RunStore::open(folder_ / "s").value()).size(), 1u);
}

TEST_F(TakenAway, WithoutItsLockFileASecondWriterIsRefusedAllTheSame) {
  fs::remove(run_ / "run.lock");
  EXPECT_TRUE(RunStore::is_in_use(run_));
  const auto second = RunStore::open(run_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
  EXPECT_EQ(append(), ErrorCode::internal) << "the first one goes on";
  store_.reset();
  EXPECT_FALSE(RunStore::is_in_use(run_));
  EXPECT_TRUE(RunStore::open(run_));
}

TEST_F(TakenAway, AProgramIsSavedInAFolderOfItsOwn) {
  ASSERT_TRUE(RunStore::save_program(best_, "{}", folder_ / "a/b"));
  EXPECT_TRUE(fs::exists(folder_ / "a/b/report.json"));
  EXPECT_TRUE(fs::exists(folder_ / "a/b" / best_.program->source.files().front().path));
}

}  // namespace
}  // namespace kernelsmith
