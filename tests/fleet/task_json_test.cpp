// Tasks as the fleet sends them.
#include <gtest/gtest.h>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

namespace kernelsmith {
namespace {

std::filesystem::path example_folder(const std::string& name) {
  return std::filesystem::path(KERNELSMITH_SOURCE_DIR) / "examples" / name;
}

void expect_reads_back(const Task& task) {
  const std::string text = to_json(task);
  const auto read = from_json<Task>(text).value();
  EXPECT_EQ(to_json(read), text);
  EXPECT_EQ(task_digest(read), task_digest(task));
}

TEST(TaskJson, ExamplesReadBack) {
  for (const char* const name : {"matmul_cpu", "attention_cpu", "circle_packing"}) {
    const auto task = load_task(example_folder(name)).value();
    expect_reads_back(task);
  }
}

TEST(TaskJson, EveryFieldReadsBack) {
  Task task = load_task(example_folder("matmul_cpu")).value();
  task.tensors.front().specials = {.nan = true, .infinities = false, .denormals = true, .large = true};
  task.tensors.front().low = "-1";
  task.tolerance = {"allclose", {"tf32"}, 1e-5, 1e-8, 0.99, 0.5, true, "reference"};
  task.declared = {"8*n", "2*n", true, "n"};
  task.cache = CacheState::warm;
  task.nondeterministic = true;
  task.settings = R"({"precision":"tf32"})";
  task.evaluator = {"/somewhere/evaluator.py", "def evaluate(path): ..."};
  task.files = {{"data/weights.bin", std::string("\x00\xff", 2)}};
  task.sizes["low"] = -5;
  task.threads = 4;
  expect_reads_back(task);
}

TEST(TaskJson, FilesDoNotClimbOut) {
  Task task;
  task.files = {{"../../etc/passwd", ""}};
  EXPECT_EQ(from_json<Task>(to_json(task)).error().code, ErrorCode::bad_input);
}

TEST(TaskJson, WrongTypesAreNamed) {
  std::string text = to_json(Task{});
  text.replace(text.find("\"threads\":1"), 11, "\"threads\":9999999999");
  const auto read = from_json<Task>(text);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().where, "threads");
  EXPECT_EQ(from_json<Task>("{}").error().code, ErrorCode::bad_input);
}

}  // namespace
}  // namespace kernelsmith
