#include "memory_need.hpp"

#include "bench.hpp"

namespace kernelsmith::cpu {
namespace {

TEST(MemoryNeed, IsThatOfSetsPlacesAndOracles) {
  const Task task = task_with({}, yaml_with("timed: [{}, {rows: 151, cols: 255}]", "timed: [{}]"));
  std::vector<TaskShape> shapes = shapes_of(task);
  shapes.resize(1);
  const std::size_t tensor = shapes.front().extents.front().bytes;
  // Inputs once and outputs twice by set; two places of both; both as floats and as doubles by oracle.
  const std::size_t without = (12 * 3 + 2 * 2) * tensor;
  EXPECT_EQ(memory_needed(task, shapes, 0), without);
  EXPECT_EQ(memory_needed(task, shapes, 2), without + 2 * 2 * 3 * tensor);
}

TEST(MemoryNeed, IsRefusedBeforeItIsTaken) {
  const Task task =
      task_with({}, yaml_with("sizes: {rows: 160, cols: 256}", "sizes: {rows: 32768, cols: 32768}"));
  const std::vector<TaskShape> shapes = shapes_of(task);
  if (memory_needed(task, shapes, 2) <= memory_free()) GTEST_SKIP() << "this machine has the memory";
  const auto evaluator = make_cpu_evaluator(task, quick());
  EXPECT_EQ(evaluator.error().code, ErrorCode::unsupported);
  EXPECT_THAT(describe(evaluator.error()), HasSubstr("GiB"));
}

}  // namespace
}  // namespace kernelsmith::cpu
