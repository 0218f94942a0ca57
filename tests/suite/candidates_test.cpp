#include <kernelsmith/suite/candidates.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Candidates : public ::testing::Test {
 protected:
  void put(const std::string& path) { folder_.write(path, "text"); }

  std::vector<std::string> of(const FoundCandidates& found, std::size_t task) {
    std::vector<std::string> names;
    for (const fs::path& path : found.of_task.at(task))
      names.push_back(path.lexically_relative(folder_.path()).generic_string());
    return names;
  }

  const std::vector<SuiteTask> tasks_ = {{"level1/3_Matmul.py", 1, ""},
                                         {"level1/softmax", 1, ""},
                                         {"level2/softmax", 2, ""},
                                         {"level2/3_Conv", 2, ""}};
  TemporaryFolder folder_;
};

TEST_F(Candidates, AreNamedAfterTheirTasks) {
  for (const char* path :
       {"level1/softmax/10.cpp", "level1/softmax/9.cpp", "level2/softmax.cu", "3_Conv/two/a.cpp",
        "3_Conv/two/b.cpp", "3_Matmul.py", "softmax.cpp", "level1/softmax/notes.txt", "other.py"})
    put(path);
  const auto found = find_candidates(folder_.path(), tasks_).value();
  EXPECT_THAT(of(found, 0), ElementsAre("3_Matmul.py"));
  EXPECT_THAT(of(found, 1), ElementsAre("level1/softmax/9.cpp", "level1/softmax/10.cpp"));
  EXPECT_THAT(of(found, 2), ElementsAre("level2/softmax.cu"));
  EXPECT_THAT(of(found, 3), ElementsAre("3_Conv/two"));
  // "softmax" alone could be either task.
  EXPECT_THAT(found.without_task, ElementsAre(folder_.path() / "other.py", folder_.path() / "softmax.cpp"));
}

TEST_F(Candidates, AreTakenFromKernelBenchsRuns) {
  for (const char* path :
       {"level_1_problem_3_sample_0_kernel.py", "level_1_problem_3_sample_1_kernel.py",
        "level_2_problem_3_sample_0_kernel.py", "level_1_problem_33_sample_0_kernel.py", "eval_results.json"})
    put(path);
  const auto found = find_candidates(folder_.path(), tasks_).value();
  EXPECT_THAT(of(found, 0),
              ElementsAre("level_1_problem_3_sample_0_kernel.py", "level_1_problem_3_sample_1_kernel.py"));
  EXPECT_THAT(of(found, 1), IsEmpty());
  EXPECT_THAT(of(found, 3), ElementsAre("level_2_problem_3_sample_0_kernel.py"));
  EXPECT_EQ(found.without_task.size(), 1u);
}

TEST_F(Candidates, EmptyFoldersAndLinksAreListedToo) {
  put("level1/softmax/a.cpp");
  put("elsewhere/a.txt");
  const fs::path of_task = folder_.path() / "level1/softmax";
  fs::create_directory(of_task / "empty");
  fs::create_directories(folder_.path() / "level2/softmax");  // nobody tried that task
  fs::create_symlink(folder_.path() / "elsewhere", of_task / "linked");
  fs::create_symlink("nowhere.cpp", of_task / "lost.cpp");
  const auto found = find_candidates(folder_.path(), tasks_).value();
  EXPECT_THAT(of(found, 1), ElementsAre("level1/softmax/a.cpp", "level1/softmax/empty",
                                        "level1/softmax/linked", "level1/softmax/lost.cpp"));
  EXPECT_THAT(of(found, 2), IsEmpty());
  EXPECT_THAT(found.without_task, IsEmpty());
}

TEST_F(Candidates, ThatFitNoTaskAreOneClearError) {
  put("sofmax.cpp");
  const auto found = find_candidates(folder_.path(), tasks_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_THAT(found.error().hint, HasSubstr("level1/3_Matmul"));
  EXPECT_FALSE(find_candidates(folder_.path() / "nowhere", tasks_));
}

}  // namespace
}  // namespace kernelsmith
