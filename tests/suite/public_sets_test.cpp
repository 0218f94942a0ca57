// Sets as their publishers lay them out become problems and candidates as a suite reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/suite/candidates.hpp>
#include <kernelsmith/suite/public_sets.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using ::testing::HasSubstr;

class PublicSets : public ::testing::Test {
 protected:
  void write_leaderboard(const std::string& data) {
    folder_.write("board/docs/assets/data.json", data);
    folder_.write("board/docs/assets/problems/l1_p3.py", "problem three");
    folder_.write("board/docs/assets/solutions/aa.py", "first");
    folder_.write("board/docs/assets/solutions/bb.py", "second");
  }

  Result<std::optional<PublicSet>> unpack(const std::string& name) {
    return unpack_public_set(folder_.path() / name, folder_.path() / "out");
  }

  TemporaryFolder folder_;
};

TEST_F(PublicSets, ALeaderboardBringsItsProblems) {
  write_leaderboard(R"({"Level 1: 3_Batched_product": [
      {"display_name": "model a", "torch_speedup": 1.5, "file": "aa"},
      {"display_name": "model b", "torch_speedup": 0.5, "file": "bb"}]})");
  const auto set = unpack("board").value();
  ASSERT_TRUE(set);
  EXPECT_EQ(file_bytes(set->tasks / "level1/3_Batched_product/reference.py"), "problem three");
  const auto first = set->candidates / "level_1_problem_3_sample_0_kernel.py";
  EXPECT_EQ(file_bytes(first), "first");
  EXPECT_EQ(set->claims.at(first), (Claim{"model a", 1.5}));
  const auto tasks = find_tasks(set->tasks, {}).value();
  const auto found = find_candidates(set->candidates, tasks).value();
  EXPECT_EQ(found.of_task.at(0).size(), 2u);
  EXPECT_TRUE(unpack("board/docs/assets").value()) << "the folder itself";
}

TEST_F(PublicSets, CudaL1IsALineForEachProblem) {
  folder_.write(
      "h100.json",
      R"({"level_id": 2, "task_id": 7, "ref_code": "reference", "custom_code": "mine", "score_default": 3.25})"
      "\n"
      R"({"level_id": 2, "task_id": 8, "ref_code": "other", "custom_code": null, "score_default": null})"
      "\n\n");
  const auto set = unpack("h100.json").value();
  ASSERT_TRUE(set);
  EXPECT_EQ(file_bytes(set->tasks / "level2/7_problem/reference.py"), "reference");
  EXPECT_EQ(file_bytes(set->tasks / "level2/8_problem/reference.py"), "other");
  ASSERT_EQ(set->claims.size(), 1u);
  EXPECT_EQ(set->claims.at(set->candidates / "level_2_problem_7_sample_0_kernel.py"),
            (Claim{"CUDA-L1 h100", 3.25}));
}

TEST_F(PublicSets, OtherFoldersAndFilesAreNone) {
  folder_.write("runs/level_1_problem_3_sample_0_kernel.py", "x");
  folder_.write("some.json", "{\"a\": 1}\n");
  for (const char* name : {"runs", "some.json", "nowhere"}) {
    const auto set = unpack(name).value();
    EXPECT_FALSE(set) << name;
  }
}

TEST_F(PublicSets, WhatContradictsItsLayoutIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"Level one: 3_a": []})", "Level one: 3_a"},
      {R"({"Level 1: ../3_a": []})", "../3_a"},
      {R"({"Level 1: 3_a": [{"file": "../../x"}]})", "../../x"},
      {R"({"Level 1: 3_a": [{"file": "aa"}]})", "display_name"},
      {R"({"Level 1: 3_a": [{"file": "cc"}]})", "cc.py"},
      {"[", "board"}};
  for (const auto& [data, says] : cases) {
    write_leaderboard(data);
    const auto set = unpack("board");
    ASSERT_FALSE(set) << data;
    EXPECT_THAT(describe(set.error()), HasSubstr(says)) << data;
  }
}

}  // namespace
}  // namespace kernelsmith
