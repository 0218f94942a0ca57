#include <kernelsmith/suite/tasks.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Tasks : public ::testing::Test {
 protected:
  void put(const std::string& path) { folder_.write(path, "text"); }

  /// "NAME@LEVEL" of what is found.
  std::vector<std::string> found(const std::string& below = ".", const std::set<unsigned>& levels = {}) {
    const auto tasks = find_tasks(folder_.path() / below, levels);
    std::vector<std::string> names;
    if (!tasks) return {describe(tasks.error())};
    for (const SuiteTask& task : *tasks) names.push_back(task.name + "@" + std::to_string(task.level));
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(Tasks, AreFoldersAndKernelBenchsFilesByLevelAndNumber) {
  for (const char* path : {"level2/1_b.py", "level1/10_a.py", "level1/9_a.py", "level1/softmax/task.yaml",
                           "level1/softmax/helper.py", "plain/task.yaml", "notes.py", "level1/README.md",
                           ".git/task.yaml", "level1/.hidden.py"})
    put(path);
  EXPECT_THAT(found(), ElementsAre("plain@0", "level1/9_a.py@1", "level1/10_a.py@1", "level1/softmax@1",
                                   "level2/1_b.py@2"));
  EXPECT_THAT(found(".", {2, 0}), ElementsAre("plain@0", "level2/1_b.py@2"));
  EXPECT_THAT(found("level2"), ElementsAre("1_b.py@2"));
  EXPECT_THAT(found("plain"), ElementsAre("plain@0"));
}

TEST_F(Tasks, ThatAreNotThereAreOneClearError) {
  EXPECT_THAT(found("nowhere"), ElementsAre(HasSubstr("nowhere")));
  EXPECT_THAT(found(), ElementsAre(HasSubstr("there is no task here")));
  put("level1/a/task.yaml");
  const auto tasks = find_tasks(folder_.path(), {7});
  ASSERT_FALSE(tasks);
  EXPECT_EQ(tasks.error().code, ErrorCode::not_found);
  EXPECT_THAT(tasks.error().message, HasSubstr("level 7"));
  EXPECT_THAT(tasks.error().hint, HasSubstr("level 1"));
}

TEST_F(Tasks, DeepInSomethingElseAreNotLookedFor) {
  put("a/b/c/task.yaml");
  put("a/b/c/d/e/task.yaml");
  put("x/1/2/3/task.yaml");
  EXPECT_THAT(found(), ElementsAre("a/b/c@0"));
}

}  // namespace
}  // namespace kernelsmith
