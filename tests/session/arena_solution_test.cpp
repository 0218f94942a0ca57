// Published solutions as candidates: what is read, what is written, what is refused.
#include "arena_solution.hpp"

#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/session/task_folder.hpp>

#include "temporary_folder.hpp"

namespace kernelsmith::arena {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kDefinition =
    R"({"name": "scale", "op_type": "scale",
  "axes": {"B": {"type": "var"}, "D": {"type": "const", "value": 64}, "H": {"type": "expr", "expression": "B * 2"}},
  "inputs": {"eps": {"shape": null, "dtype": "float32"}, "x": {"shape": ["D", "B"], "dtype": "bfloat16"}},
  "outputs": {"y": {"shape": ["H", "1"], "dtype": "bfloat16"}, "z": {"shape": ["B"], "dtype": "float32"}},
  "reference": "def run(eps, x):\n    return x, x"})";

constexpr const char* kSolution =
    R"({"name": "mine", "definition": "scale", "author": "me",
  "spec": {"languages": ["triton"], "target_hardware": ["B200"], "entry_point": "main.py::go", "binding": null},
  "sources": [{"path": "main.py", "content": "def go(eps, x, y, z):\n    pass"}]})";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

Result<std::string> made(const std::string& solution, bool with_definition = true) {
  const auto parsed = parse_solution(solution, "solution.json");
  if (!parsed) return parsed.error();
  std::optional<Definition> definition;
  if (with_definition) definition = parse_definition(kDefinition, "definition.json").value();
  return candidate_of(*parsed, definition, "solution.json");
}

TEST(ArenaSolution, OutputsAreAllocatedByTheDefinition) {
  const auto text = made(kSolution);
  ASSERT_TRUE(text) << describe(text.error());
  EXPECT_EQ(*text, R"(def go(eps, x, y, z):
    pass


# The solution mine, of which kernelsmith makes a candidate.
_kernelsmith_run = go

import torch as _kernelsmith_torch


def _kernelsmith_shapes(B):
    D = 64
    H = int(B * 2)
    return [(H, 1), (B,)]


class ModelNew(_kernelsmith_torch.nn.Module):
    def forward(self, eps, x):
        outputs = [_kernelsmith_torch.empty(shape, dtype=dtype, device=x.device)
                   for shape, dtype in zip(_kernelsmith_shapes(x.shape[1]), [_kernelsmith_torch.bfloat16, _kernelsmith_torch.float32])]
        _kernelsmith_run(eps, x, *outputs)
        return outputs
)");
}

TEST(ArenaSolution, OutputsMayBeReturnedByName) {
  const std::string returns = changed(kSolution, "\"binding\": null", "\"destination_passing_style\": false");
  EXPECT_THAT(made(returns).value(), AllOf(HasSubstr("made = _kernelsmith_run(*inputs)\n"),
                                           HasSubstr("for name in [\"y\", \"z\"]")));
  EXPECT_THAT(made(returns, false).value(), HasSubstr("        return made\n"));
}

TEST(ArenaSolution, SeveralFilesAreImported) {
  const std::string two =
      changed(kSolution, "\"sources\": [", R"("sources": [{"path": "ops/k.py", "content": "A = \"\\n\""}, )");
  EXPECT_THAT(made(two).value(), AllOf(HasSubstr("\"ops/k.py\": \"\"\"\\\nA = \\\"\\\\n\\\"\n\"\"\",\n"),
                                       HasSubstr("import_module(\"kernelsmith_solution.main\").go\n")));
  EXPECT_THAT(made(changed(kSolution, "def go", "class ModelNew: pass\\ndef go")).value(),
              HasSubstr("import_module(\"kernelsmith_solution.main\").go\n"));
}

TEST(ArenaSolution, CppIsBuiltWithItsOptions) {
  std::string cpp = changed(changed(kSolution, "[\"triton\"]", "[\"cuda_cpp\"]"), "main.py::", "main.cu::");
  cpp = changed(cpp, "\"path\": \"main.py\"", "\"path\": \"main.cu\"");
  EXPECT_THAT(made(cpp).value(),
              AllOf(HasSubstr("sources=[_os.path.join(_FOLDER, \"main.cu\")]"),
                    HasSubstr("extra_cflags=[], extra_cuda_cflags=[],"), HasSubstr("_FOLDER]).go\n")));
  const std::string options =
      changed(cpp, "\"binding\": null", R"("compile_options": {"cflags": ["-DA=1"]})");
  EXPECT_THAT(made(options).value(),
              HasSubstr("extra_cflags=[\"-DA=1\"], extra_cuda_cflags=[\"-O3\", \"--use_fast_math\"]"));
  const std::string flashinfer = changed(cpp, "\"languages\": [\"cuda_cpp\"]", "\"language\": \"cuda\"");
  EXPECT_THAT(made(flashinfer).error().message, HasSubstr("'tvm-ffi'"));
  EXPECT_TRUE(made(changed(flashinfer, "\"binding\": null", "\"binding\": \"torch\"")));
}

TEST(ArenaSolution, WhatCannotBePlannedOrReadIsRefused) {
  using enum ErrorCode;
  for (const auto& [from, to, code, says] :
       {std::tuple{"\"triton\"", "\"cute_dsl\"", unsupported, "a solution in 'cute_dsl' cannot be planned"},
        {"\"scale\"", "\"other\"", bad_input, "is for 'other', and the task is 'scale'"},
        {"main.py::go", "main.py", bad_input, "FILE::FUNCTION"},
        {"main.py::go", "main.py::a;b", bad_input, "name of a function"},
        {"main.py::go", "m.py::go", bad_input, "no file 'm.py'"},
        {"\"path\": \"main.py\"", "\"path\": \"a/../main.py\"", bad_input, "inside the solution's folder"},
        {"\"path\": \"main.py\"", "\"path\": \"/main.py\"", bad_input, "inside the solution's folder"},
        {"\"name\"", "\"nam\"", bad_input, "missing"},
        {"{\"name\"", "{{", bad_input, "not JSON"}}) {
    const auto refused = made(changed(kSolution, from, to));
    ASSERT_FALSE(refused) << to;
    EXPECT_EQ(refused.error().code, code) << to;
    EXPECT_THAT(refused.error().message, HasSubstr(says));
    EXPECT_THAT(refused.error().where, StartsWith("solution.json"));
  }
  EXPECT_THAT(made(kSolution, false).error().message, HasSubstr("does not say their shapes"));
}

TEST(ArenaSolution, ATorchTaskTakesThem) {
  TemporaryFolder folder;
  folder.write("solution.json", kSolution);
  folder.write("submission.py", "def custom_kernel(data):\n    return data");
  folder.write("plain.py", "class ModelNew: pass\n");
  Task task;
  task.backend = "torch";
  task.files = {{std::string(kDefinitionFile), kDefinition}};
  EXPECT_THAT(load_candidate(task, folder / "solution.json").value().main_text(),
              HasSubstr("_kernelsmith_run(eps, x"));
  EXPECT_THAT(
      load_candidate(task, folder / "submission.py").value().main_text(),
      AllOf(StartsWith("def custom_kernel(data):\n    return data\n\n"), HasSubstr("class ModelNew")));
  EXPECT_THAT(load_candidate(task, folder / "plain.py").value().main_text(), "class ModelNew: pass\n");
  task.backend = "cpu";
  EXPECT_THAT(load_candidate(task, folder / "submission.py").value().main_text(), Not(HasSubstr("ModelNew")));
}

}  // namespace
}  // namespace kernelsmith::arena
