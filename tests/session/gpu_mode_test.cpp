// Problems of GPU MODE as tasks: cases, modules, tolerance, and what is refused.
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kCases = R"(files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "task.py", "source": "task.py"}
  - {"name": "utils.py", "source": "../utils.py"}
  - {"name": "reference.py", "source": "reference.py"}
  - {"name": "eval.py", "source": "../eval.py"}
lang: "py"
description: |
  Doubles: "rows".
config: {main: "eval.py"}
ranking_by: "geom"
tests:
  - {"rows": 33, "kind": "normal", "masked": True, "seed": 1}
  - {"rows": 64, "kind": "normal", "masked": True, "seed": 5}
benchmarks:
  - {"rows": 64, "kind": "normal", "masked": True, "seed": 2}
  - {"rows": 64, "kind": "normal", "masked": True, "seed": 3}
  - {"rows": 512, "kind": "cauchy", "masked": True, "seed": 4}
ranked_timeout: 420
gpus: [H100]
)";

constexpr const char* kDoubling = R"(import torch
from task import input_t
from utils import make_match_reference


def ref_kernel(data: input_t):
    x, out = data
    out[...] = 2 * x
    return out


def generate_input(rows, kind, masked, seed):
    return torch.randn(rows), torch.empty(rows)


check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol = 2e-3)
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

class GpuMode : public ::testing::Test {
 protected:
  GpuMode() {
    folder_.write("group/utils.py", "WORDS = \"\"\"a\\n\"\"\"\ndef make_match_reference(*_, **__): pass");
    folder_.write("group/double_py/task.py", "input_t = tuple\n");
    problem(kCases, kDoubling);
  }
  void problem(const std::string& task, const std::string& reference) {
    folder_.write("group/double_py/task.yml", task);
    folder_.write("group/double_py/reference.py", reference);
  }
  Result<ArenaTask> made() { return task_of_gpu_mode(folder_ / "group/double_py"); }
  std::string yaml() { return made()->files[0].text; }

  TemporaryFolder folder_;
};

TEST_F(GpuMode, BenchmarksAreTimedAndTestsAreChecked) {
  const auto task = made();
  ASSERT_TRUE(task) << describe(task.error());
  EXPECT_EQ(task->name, "double_py");
  EXPECT_EQ(task->chosen, "3 of 5");
  EXPECT_THAT(task->notes, IsEmpty());
  EXPECT_THAT(
      task->files[0].text,
      AllOf(HasSubstr("  The problem double_py of GPU MODE. Doubles: \"rows\".\n  forward(data) gets what "),
            HasSubstr("tolerance: {rtol: 0.001, atol: 0.002, truth: reference}"),
            HasSubstr("precision: fp32"),
            HasSubstr(
                "workloads:\n"
                "  - {name: \"rows = 64, kind = normal\", arguments: {rows: 64, kind: \"normal\", masked: "
                "true}, weight: 2}\n"
                "  - {name: \"rows = 512, kind = cauchy\", arguments: {rows: 512, kind: \"cauchy\", masked: "
                "true}}\n"
                "  - {name: \"rows = 33, kind = normal\", arguments: {rows: 33, kind: \"normal\", masked: "
                "true}, check: true}\n")));
  const auto loaded = task_of_files(task->files, "made", default_registry().backends);
  ASSERT_TRUE(loaded) << describe(loaded.error());
}

TEST_F(GpuMode, TheReferenceHasWhatItImports) {
  const std::string text = made()->files[1].text;
  EXPECT_THAT(text, AllOf(HasSubstr("_module(\"task\", \"\"\"\\\ninput_t = tuple\n\"\"\")\n"),
                          HasSubstr("WORDS = \\\"\\\"\\\"a\\\\n\\\"\\\"\\\"\n"), HasSubstr(kDoubling),
                          HasSubstr("generate_input(**case, seed=torch.initial_seed() % 2**31)"),
                          Not(HasSubstr("eval"))));
  problem(
      replaced(replaced(replaced(kCases, ", \"seed\": 1", ""), ", \"seed\": 5", ""), "benchmarks:", "other:"),
      kDoubling);
  EXPECT_THAT(made()->files[1].text, HasSubstr("generate_input(**case)"));
}

TEST_F(GpuMode, AnyOtherCheckIsTheTasks) {
  for (const auto& [line, says] :
       {std::tuple{"make_match_reference(ref_kernel)", "{rtol: 1e-05, atol: 1e-08, truth: reference}"},
        {"make_match_reference(ref_kernel, rtol=1)",
         "an rtol of 1 and an atol of 1e-08, which a task cannot"},
        {"make_match_reference(ref_kernel, equal=1)", "the arena's own check"},
        {"make_match_reference(ref_kernel, rtol=x)", "the arena's own check"},
        {"make_match_reference(other)", "the arena's own check"}}) {
    problem(kCases, replaced(kDoubling, "make_match_reference(ref_kernel, rtol=1e-3, atol = 2e-3)", line));
    EXPECT_THAT(yaml(), HasSubstr(says)) << line;
    EXPECT_EQ(made()->files[1].text.find("\ndef check(outputs, data):") != std::string::npos,
              std::string(says).find("own check") != std::string::npos);
  }
}

TEST_F(GpuMode, WhatDiffersFromTheArenaIsSaid) {
  problem(replaced(replaced(kCases, "ranking_by: \"geom\"", ""), "\"rows\": 512", "\"rows\": [512, 8]"),
          kDoubling);
  EXPECT_THAT(made()->notes,
              ElementsAre(HasSubstr("1 of 5 cases are left out"), HasSubstr("the last benchmark")));
}

TEST_F(GpuMode, WhatATaskCannotHoldIsRefused) {
  for (const auto& [task, reference, says] :
       {std::tuple{replaced(kCases, "lang: \"py\"", "lang: cu"), std::string(kDoubling), "written in 'cu'"},
        {replaced(kCases, "gpus:", "multi_gpu: true\ngpus:"), kDoubling, "several GPUs"},
        {replaced(replaced(kCases, "tests:", "a:"), "benchmarks:", "b:"), kDoubling,
         "no tests and no benchmarks"},
        {kCases, replaced(kDoubling, "def ref_kernel", "def other"), "does not define ref_kernel()"},
        {kCases, replaced(kDoubling, "import torch", "class Model():\n  pass"), "class Model("},
        {kCases, replaced(kDoubling, "torch.randn(rows)", "torch.float4_e2m1fn_x2"), "no 4-bit types"}}) {
    problem(task, reference);
    const auto refused = made();
    ASSERT_FALSE(refused) << says;
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_THAT(refused.error().message, HasSubstr(says));
  }
  EXPECT_EQ(task_of_gpu_mode(folder_ / "none").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace kernelsmith
