// A run folder is looked at again only when it may have changed, and is not written.
#include <chrono>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/session/session.hpp>

#include "followed_run.hpp"
#include "temporary_folder.hpp"
#include "toy_task.hpp"

namespace kernelsmith::ui {
namespace {

namespace fs = std::filesystem;

class FollowedRunTest : public ::testing::Test {
 protected:
  void run_to(std::uint64_t iterations) {
    const TaskFolder task = toy::task_in(folder_.path());
    const std::string budget = "workers: 1\nbudgets: {iterations: " + std::to_string(iterations) + "}\n";
    auto session = Session::create(task, run_, toy::config_for(task, budget)).value();
    ASSERT_TRUE(session.run());
  }
  void go_on_to(std::uint64_t iterations) {
    auto session = Session::resume(
        run_,
        [&](RunConfig& config) -> Status {
          config.budgets.iterations = iterations;
          return {};
        },
        toy::registry());
    ASSERT_TRUE(session->run());
  }
  /// As if the last change was long ago.
  void age() {
    for (const auto& entry : fs::directory_iterator(run_))
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  std::uint64_t iterations_in(const Result<std::optional<std::string>>& summary) {
    return nlohmann::json::parse(summary.value().value())["budgets"]["iterations"]["used"]
        .get<std::uint64_t>();
  }

  TemporaryFolder folder_;
  const fs::path run_ = folder_ / "a.run";
};

TEST_F(FollowedRunTest, WhatDidNotChangeIsNotReadAgain) {
  run_to(5);
  FollowedRun followed(run_, toy::registry());
  EXPECT_EQ(iterations_in(followed.look()), 5U);
  age();
  ASSERT_TRUE(followed.look().value()) << "times have changed";
  EXPECT_FALSE(followed.look().value());
  go_on_to(8);
  EXPECT_EQ(iterations_in(followed.look()), 8U);
}

TEST_F(FollowedRunTest, AChangeJustNowIsLookedAtOnceMore) {
  run_to(5);
  FollowedRun followed(run_, toy::registry());
  ASSERT_TRUE(followed.look().value());
  EXPECT_TRUE(followed.look().value()) << "another one may have had the same time";
}

TEST_F(FollowedRunTest, ARunThatIsBegunOrEndedIsSeen) {
  run_to(5);
  FollowedRun followed(run_, toy::registry());
  age();
  ASSERT_TRUE(followed.look().value());
  {
    const auto session = Session::resume(run_, {}, toy::registry()).value();
    EXPECT_EQ(nlohmann::json::parse(followed.look().value().value())["in_use"], true);
  }
  EXPECT_EQ(nlohmann::json::parse(followed.look().value().value())["in_use"], false);
}

TEST_F(FollowedRunTest, ARunThatIsGoneIsAnErrorAndWhatWasSeenStays) {
  run_to(5);
  FollowedRun followed(run_, toy::registry());
  EXPECT_FALSE(followed.program({0}));
  ASSERT_TRUE(followed.look());
  fs::rename(run_, folder_ / "b.run");
  const auto look = followed.look();
  ASSERT_FALSE(look);
  EXPECT_EQ(look.error().code, ErrorCode::not_found);
  fs::rename(folder_ / "b.run", run_);
  EXPECT_TRUE(followed.program({0})) << "what was seen stays";
  EXPECT_EQ(iterations_in(followed.look()), 5U);
}

TEST_F(FollowedRunTest, AnotherRunInItsPlaceGivesNoProgramsOfTheOldOne) {
  run_to(5);
  FollowedRun followed(run_, toy::registry());
  ASSERT_TRUE(followed.look());
  EXPECT_TRUE(followed.program({0}));
  fs::remove_all(run_);
  fs::remove_all(folder_ / "task");
  run_to(3);
  EXPECT_EQ(followed.program({0}).error().code, ErrorCode::not_found);
  EXPECT_EQ(iterations_in(followed.look()), 3U);
  EXPECT_TRUE(followed.program({0}));
}

TEST_F(FollowedRunTest, NoConnectionIsKept) {
  run_to(5);
  FollowedRun followed(run_, toy::registry());
  ASSERT_TRUE(followed.look());
  ASSERT_TRUE(followed.program({0}));
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    EXPECT_THAT(fs::read_symlink(entry.path(), ignored).string(),
                ::testing::Not(::testing::HasSubstr(run_.string())));
  }
}

}  // namespace
}  // namespace kernelsmith::ui
