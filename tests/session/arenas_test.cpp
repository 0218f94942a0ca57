// Problems of FlashInfer-Bench and SOL-ExecBench as tasks: what is read, what is written, what is refused.
// gpu_mode_test.cpp has GPU MODE's.
#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/session/arenas.hpp>
#include <kernelsmith/session/registry.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "arena_draws.hpp"
#include "arena_schema.hpp"
#include "arena_yaml.hpp"
#include "axis_expression.hpp"
#include "safetensors.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using arena::Arena;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kScale =
    R"({"name": "scale_d64", "op_type": "scale", "description": "Scales: rows\nby \"weights\".",
  "axes": {"B": {"type": "var"}, "D": {"type": "const", "value": 64}, "H": {"type": "expr", "expression": "D // 2"}},
  "inputs": {"x": {"shape": ["B", "D"], "dtype": "bfloat16"}, "w": {"shape": ["B", "1"], "dtype": "float32"},
             "at": {"shape": ["H"], "dtype": "int32"}, "eps": {"shape": null, "dtype": "float32"}},
  "outputs": {"y": {"shape": ["B", "D"], "dtype": "bfloat16"}, "z": {"shape": ["B"], "dtype": "float32"}},
  "constraints": ["B > 0"],
  "reference": "import torch\n\ndef run(x, w, at, eps):\n    return (x.float() * (w + eps)).to(x.dtype), w[:, 0]"})";

std::string line(const std::string& uuid, int rows, const std::string& more = "") {
  return R"({"uuid": ")" + uuid + R"(", "axes": {"B": )" + std::to_string(rows) +
         R"(}, "inputs": {"x": {"type": "random"}, "w": {"type": "random"}, "at": {"type": "random"}, "eps": {"type": "scalar", "value": 1e-06}})" +
         more + "}\n";
}

std::string trace(const std::string& workload) {
  return R"({"definition": "scale_d64", "solution": null, "evaluation": null, "workload": )" +
         workload.substr(0, workload.size() - 1) + "}\n";
}

/// A definition with these lines in place of some of kScale.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string text_of(const ArenaTask& task, const std::string& path) {
  for (const SourceFile& file : task.files)
    if (file.path == path) return file.text;
  return {};
}

class Arenas : public ::testing::Test {
 protected:
  Arenas() {
    folder_.write("data/definitions/scale/scale_d64.json", kScale);
    folder_.write("data/definitions/scale/scale_d128.json", kScale);
    folder_.write(
        "data/workloads/scale/scale_d64.jsonl",
        trace(line("aa-large", 4096)) + "\n" + trace(line("ab-small", 8)) + trace(line("c-mid", 64)));
    problem(kScale, line("aa", 8));
  }

  void problem(const std::string& definition, const std::string& workloads) {
    folder_.write("sol/definition.json", definition);
    folder_.write("sol/workload.jsonl", workloads);
  }
  Result<ArenaTask> flashinfer(const std::string& name, const WorkloadChoice& choice = {}) {
    return task_of_flashinfer_bench(folder_ / "data", name, choice);
  }
  Result<ArenaTask> sol(const WorkloadChoice& choice = {}) {
    return task_of_sol_execbench(folder_ / "sol", choice);
  }

  TemporaryFolder folder_;
};

TEST_F(Arenas, AllWorkloadsBecomeOneTask) {
  const auto made = flashinfer("scale_d64");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->name, "scale_d64");
  EXPECT_EQ(made->chosen, "3 of 3");
  EXPECT_THAT(made->notes, IsEmpty());
  const auto task = task_of_files(made->files, "made", default_registry().backends);
  ASSERT_TRUE(task) << describe(task.error());
  EXPECT_EQ(task->task.name, made->name);
  EXPECT_EQ(task->task.tolerance.policy, "allclose");
  EXPECT_EQ(task->task.tolerance.rtol, 0.01);
  EXPECT_EQ(task->task.description,
            "The definition scale_d64 of FlashInfer-Bench. Scales: rows\nby \"weights\".\n"
            "Axes: B = 8 to 4096, D = 64, H = 32\n"
            "Inputs: x bfloat16[B, D], w float32[B, 1], at int32[H], eps (a number)\n"
            "Outputs: y bfloat16[B, D], z float32[B]\nConstraints: B > 0\n");
  EXPECT_THAT(text_of(*made, "task.yaml"),
              AllOf(HasSubstr("precision: bf16"), HasSubstr("either: true"),
                    HasSubstr("workloads:\n"
                              "  - {name: \"B = 4096 (aa-large)\", arguments: {B: 4096}}\n"
                              "  - {name: \"B = 8 (ab-small)\", arguments: {B: 8}}\n"
                              "  - {name: \"B = 64 (c-mid)\", arguments: {B: 64}}\n")));
  EXPECT_EQ(text_of(*made, "reference.py"), R"(import torch

def run(x, w, at, eps):
    return (x.float() * (w + eps)).to(x.dtype), w[:, 0]


# What follows makes a task of kernelsmith of it.
import torch


class Model(torch.nn.Module):
    def forward(self, x, w, at, eps):
        outputs = run(x, w, at, eps)
        return tuple(outputs[name] for name in ("y", "z")) if isinstance(outputs, dict) else outputs


def get_inputs(B):
    D = 64
    H = 32
    eps = 1e-06
    return [
        torch.randn((B, D), dtype=torch.bfloat16),  # x
        torch.randn((B, 1), dtype=torch.float32),  # w
        torch.randint(-1024, 1024, (H,), dtype=torch.int32),  # at
        eps,  # eps
    ]


def get_init_inputs():
    return []
)");
}

TEST_F(Arenas, WhatDiffersIsAnArgument) {
  const std::string other = changed(line("b", 8), "1e-06", "true");
  problem(changed(kScale, "D // 2", "B // 2"), line("a", 4) + other);
  const auto made = sol();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(text_of(*made, "reference.py"),
              AllOf(HasSubstr("def get_inputs(B, H, eps):\n    D = 64\n    return"),
                    HasSubstr("        eps,  # eps")));
  EXPECT_THAT(text_of(*made, "task.yaml"),
              AllOf(HasSubstr("arguments: {B: 4, H: 2, eps: 1e-06}"), HasSubstr("{B: 8, H: 4, eps: true}")));
}

TEST_F(Arenas, StructureIsNotVaried) {
  const std::string masked = changed(kScale, R"("w": {"shape": ["B", "1"],)",
                                     R"("w": {"shape": ["B", "1"], "description": "softmax output",)");
  problem(masked, line("a", 4));
  EXPECT_THAT(text_of(*sol(), "reference.py"), HasSubstr("\n\nunvaried = [\"w\"]\n\n\ndef get_inputs(B):"));
}

TEST_F(Arenas, AProblemWithoutVariableAxesHasOneShape) {
  problem(changed(kScale, R"("B": {"type": "var"})", R"("B": {"type": "const", "value": 8})"),
          changed(line("a", 8), "\"B\": 8", ""));
  const auto made = sol();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(text_of(*made, "task.yaml"), Not(HasSubstr("workloads")));
  EXPECT_THAT(text_of(*made, "reference.py"), HasSubstr("def get_inputs():\n    B = 8\n"));
}

TEST_F(Arenas, NamesAreShortAndUnique) {
  problem(changed(kScale, "scale_d64", std::string(120, 'x')),
          line("same-one-0", 8) + line("same-one-1", 8) + line("s\xc3\xa9 \\\"{:", 8));
  const auto made = sol();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, std::string(100, 'x'));
  EXPECT_THAT(text_of(*made, "task.yaml"),
              AllOf(HasSubstr("\"B = 8 (same-one)\""), HasSubstr("\"B = 8 (same-one) (2)\""),
                    HasSubstr(R"~("B = 8 (s__ \"{:)")~")));
  EXPECT_TRUE(task_of_files(made->files, "made", default_registry().backends));
}

TEST_F(Arenas, WorkloadsAreChosenByName) {
  EXPECT_EQ(flashinfer("scale_d64", {{"c", "ab", "c-mid"}})->chosen, "2 of 3");
  EXPECT_THAT(text_of(*flashinfer("scale_d64", {{"ab"}}), "task.yaml"),
              AllOf(HasSubstr("Axes: B = 8, D = 64"), Not(HasSubstr("c-mid"))));
  const auto several = flashinfer("scale_d64", {{"a"}});
  ASSERT_FALSE(several);
  EXPECT_THAT(several.error().hint, HasSubstr("aa-large and ab-small"));
  const auto none = flashinfer("scale_d64", {{"x"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_THAT(none.error().hint, HasSubstr("there are 3: aa-large, ab-small, c-mid"));
}

TEST_F(Arenas, WorkloadsAreSpreadOverTheirSizes) {
  EXPECT_THAT(arena::spread({5, 1, 3, 2, 4}, 1), ElementsAre(2));
  EXPECT_THAT(arena::spread({5, 1, 3, 2, 4}, 2), ElementsAre(0, 1));
  EXPECT_THAT(arena::spread({5, 1, 3, 2, 4}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(arena::spread({5, 1}, 3), ElementsAre(0, 1));
  EXPECT_THAT(text_of(*flashinfer("scale_d64", {{}, 1}), "task.yaml"), HasSubstr("Axes: B = 64, D = 64"));
  std::string many;
  for (int i = 1; i <= 70; ++i) many += line("w" + std::to_string(i), i);
  problem(kScale, many);
  const auto made = sol();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->chosen, "64 of 70");
  EXPECT_THAT(text_of(*made, "task.yaml"), AllOf(HasSubstr("{B: 1}"), HasSubstr("{B: 70}")));
}

TEST_F(Arenas, AnUnusableWorkloadIsLeftOut) {
  problem(kScale,
          line("a", 8) + changed(line("b", 8), "random", "custom") +
              changed(line("c", 8), R"({"type": "scalar", "value": 1e-06})", R"({"type": "random"})") +
              line("d", 16));
  const auto made = sol();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->chosen, "2 of 4");
  EXPECT_THAT(made->notes,
              ElementsAre(AllOf(HasSubstr("2 of 4 workloads are left out"),
                                HasSubstr("custom_inputs_entrypoint"), HasSubstr("workload b"))));
  EXPECT_FALSE(sol({{"b"}}));
}

TEST_F(Arenas, WhatIsNotThereIsNamed) {
  const auto near = flashinfer("scale_64");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().code, ErrorCode::not_found);
  EXPECT_EQ(near.error().hint, "near names: scale_d64, scale_d128");
  EXPECT_THAT(flashinfer("other").error().hint, HasSubstr("there are 2, none with a name like it"));
  EXPECT_THAT(flashinfer("scale_d128").error().message, HasSubstr("has no workloads"));
  EXPECT_THAT(task_of_flashinfer_bench(folder_ / "sol", "x", {}).error().message,
              HasSubstr("not a data set"));
  EXPECT_EQ(task_of_sol_execbench(folder_ / "none", {}).error().code, ErrorCode::not_found);
}

TEST_F(Arenas, EachWorkloadHasItsOwnTolerance) {
  EXPECT_THAT(text_of(*sol(), "task.yaml"),
              HasSubstr("{rtol: 0.01, atol: 0.01, matched: 0.99, truth: reference}"));
  problem(
      kScale,
      line(
          "aa", 8,
          R"(, "tolerance": {"max_atol": 0.5, "max_rtol": 0, "required_matched_ratio": 1, "max_error_cap": 2.5})"));
  EXPECT_THAT(text_of(*sol(), "task.yaml"),
              AllOf(HasSubstr("{rtol: 0, atol: 0.5, cap: 2.5, truth: reference}"), Not(HasSubstr(" % of"))));
  const std::string other =
      R"(, "tolerance": {"max_atol": 0.25, "max_rtol": 0.5, "required_matched_ratio": 0.995})";
  problem(kScale, line("aa", 8) + line("bb", 16, other) + line("cc", 32));
  const auto made = sol();
  EXPECT_THAT(
      text_of(*made, "task.yaml"),
      AllOf(HasSubstr("\ntolerance: {rtol: 0.01, atol: 0.01, matched: 0.99, truth: reference}"),
            HasSubstr("{B: 8}}\n"),
            HasSubstr("{B: 16}, tolerance: {rtol: 0.5, atol: 0.25, matched: 0.995, truth: reference}}\n"),
            HasSubstr("{B: 32}}\n")));
  EXPECT_TRUE(task_of_files(made->files, "made", default_registry().backends));
  problem(kScale, line("aa", 8) + line("bb", 16, R"(, "tolerance": {"max_rtol": 2})"));
  EXPECT_THAT(text_of(*sol(), "task.yaml"),
              AllOf(HasSubstr("{B: 16}, tolerance: {policy: auto}}\n"), HasSubstr("allows an rtol of 2")));
  problem(kScale,
          line("aa", 8, R"(, "tolerance": {"max_atol": 0, "max_rtol": 0, "allow_negative_inf": true})"));
  const auto exact = sol();
  EXPECT_THAT(text_of(*exact, "task.yaml"),
              AllOf(HasSubstr("\ntolerance: {policy: auto}\n"), HasSubstr("own rule counts")));
  EXPECT_THAT(text_of(*exact, "reference.py"), HasSubstr("\n\nmay_be_infinite = True\n"));
  EXPECT_TRUE(task_of_files(exact->files, "made", default_registry().backends));
}

TEST_F(Arenas, CustomInputsAreMadeByTheDefinition) {
  const std::string made = R"("reference": "def get_inputs(given, device):\n    return {}\n)";
  problem(
      changed(changed(kScale, R"("reference": "import torch\n)", made), R"("constraints": ["B > 0"])",
              R"("custom_inputs_entrypoint": "get_inputs")"),
      R"({"uuid": "aa", "axes": {"B": 8}, "inputs": {"x": {"type": "custom"}, "w": {"type": "custom"}}})");
  const auto task = sol();
  ASSERT_TRUE(task) << describe(task.error());
  EXPECT_THAT(text_of(*task, "reference.py"),
              AllOf(HasSubstr("_custom_inputs = get_inputs\n"),
                    HasSubstr("_custom_inputs({\"B\": B, \"D\": D, \"H\": H}, torch.empty(0).device)"),
                    HasSubstr("[made[\"x\"], made[\"w\"], made[\"at\"], made[\"eps\"]]")));
}

/// A safetensors file with one tensor.
std::string stored(const std::string& entry, const std::string& bytes) {
  const std::string header = R"({"__metadata__": {"a": "b"}, "at": )" + entry + "}";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  return file + header + bytes;
}

TEST_F(Arenas, ValuesOfSafetensorsLieBesideTheTask) {
  std::string workload = line("aa", 8);
  workload =
      changed(workload, R"("at": {"type": "random"})",
              R"("at": {"type": "safetensors", "path": "./gone/blob/a.safetensors", "tensor_key": "at"})");
  problem(kScale, workload);
  const auto absent = sol();
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
  EXPECT_THAT(absent.error().message, HasSubstr("values of 'at'"));

  const auto with = [&](const std::string& file) {
    folder_.write("blob/a.safetensors", file);  // above the problem's folder
    return sol();
  };
  const auto task =
      with(stored(R"({"dtype": "I32", "shape": [32], "data_offsets": [0, 128]})", std::string(128, 'x')));
  ASSERT_TRUE(task) << describe(task.error());
  EXPECT_EQ(text_of(*task, "at-1.b64").substr(0, 8), "eHh4eHh4");
  EXPECT_THAT(text_of(*task, "reference.py"),
              AllOf(HasSubstr("def get_inputs(B, at):"), HasSubstr("        None,  # at\n"),
                    HasSubstr("def get_fixed(B, at):"), HasSubstr("\"at\": _values(at, (H,), torch.int32)")));
  EXPECT_THAT(text_of(*task, "task.yaml"), HasSubstr("arguments: {B: 8, at: \"at-1.b64\"}"));
  const auto loaded = task_of_files(task->files, "made", default_registry().backends);
  ASSERT_TRUE(loaded) << describe(loaded.error());
  EXPECT_EQ(loaded->task.files.size(), 3U);

  problem(kScale, workload + changed(workload, "aa", "bb"));
  EXPECT_EQ(sol()->files.size(), 5U) << "the same values are there once";
  folder_.write("blob/b.safetensors", stored(R"({"dtype": "I32", "shape": [32], "data_offsets": [0, 128]})",
                                             std::string(128, 'y')));
  problem(kScale, workload + changed(changed(workload, "aa", "bb"), "a.safe", "b.safe") +
                      changed(changed(workload, "aa", "cc"), "a.safe", "none.safe"));
  const auto both = sol();
  ASSERT_TRUE(both) << describe(both.error());
  EXPECT_EQ(both->chosen, "2 of 3");
  EXPECT_THAT(text_of(*both, "task.yaml"),
              HasSubstr("also: [definition.json, workload.jsonl, at-1.b64, at-2.b64]"));
  EXPECT_EQ(text_of(*both, "at-2.b64").substr(0, 8), "eXl5eXl5");
  EXPECT_EQ(sol({{"bb"}})->files.size(), 5U);
  problem(kScale, workload);

  for (const auto& [file, says] : {
           std::pair{std::string("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
                     "pointer of Git LFS"},
           {std::string("short"), "not a safetensors file"},
           {std::string(64, '\xff'), "not a safetensors file"},
           {stored("1", ""), "the entry of 'at' is broken"},
           {stored(R"({"dtype": "I32", "shape": [32], "data_offsets": [0, 129]})", std::string(128, 'x')),
            "broken"},
           {stored(R"({"dtype": "I32", "shape": [32], "data_offsets": [0, 64]})", std::string(128, 'x')),
            "fewer bytes"},
           {stored(R"({"dtype": "I64", "shape": [16], "data_offsets": [0, 128]})", std::string(128, 'x')),
            "'at' is int64[16]; the definition says int32[32]"},
       }) {
    const auto refused = with(file);
    ASSERT_FALSE(refused) << says;
    EXPECT_THAT(refused.error().message, HasSubstr(says));
  }
}

TEST_F(Arenas, WhatATaskCannotHoldIsRefused) {
  const std::string number =
      changed(line("aa", 8), R"({"type": "scalar", "value": 1e-06})", R"({"type": "random"})");
  for (const auto& [definition, workload, says] : {
           std::tuple{changed(kScale, R"("dtype": "int32")", R"("dtype": "float4_e2m1")"), line("aa", 8),
                      "no 4-bit types yet"},
           {changed(kScale, R"("shape": ["B"], "dtype": "float32")", R"("shape": null, "dtype": "float32")"),
            line("aa", 8), "output 'z' is a number"},
           {changed(kScale, R"(def run)", R"(class Model():\n    pass\ndef run)"), line("aa", 8),
            "a name that a torch task needs"},
           {std::string(kScale), number, "'eps' is a number drawn at random"},
           {changed(changed(kScale, R"("H": {)", R"("eps": {)"), R"(["H"])", R"(["eps"])"), line("aa", 8),
            "the axis 'eps' has the name of something else"},
       }) {
    problem(definition, workload);
    const auto refused = sol();
    ASSERT_FALSE(refused) << says;
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_THAT(refused.error().message, HasSubstr(says));
    EXPECT_FALSE(refused.error().hint.empty());
  }
}

TEST_F(Arenas, BrokenFilesAreRefusedWithThePlace) {
  for (const auto& [from, to, says] : {
           std::tuple{"\"name\"", "\"nam\"", "definition.json: name: it is missing"},
           {"\"B\", \"D\"", "\"B\", \"E\"", "inputs: x: shape[1]: there is no axis 'E'"},
           {"\"var\"", "\"vary\"", "axes: B: 'vary' is not a type of axes"},
           {"64}", "-64}", "axes: D: value: a whole number from 0"},
           {"\"D // 2\"", "\"D // 0\"", "H = D // 0: it divides by zero"},
           {"bfloat16", "bfloat61", "inputs: x: 'bfloat61' is not a known dtype"},
           {"def run", "def ran", "reference: it does not define run"},
           {"\"eps\": {", "\"e-s\": {", "inputs: e-s: it cannot be the name"},
           {"\"eps\": {", "\"lambda\": {", "inputs: lambda: it cannot be the name"},
           {"{\"name\"", "[\"name\"", "definition.json: it is not JSON"},
       }) {
    problem(changed(kScale, from, to), line("aa", 8));
    const auto refused = sol();
    ASSERT_FALSE(refused) << says;
    EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
    EXPECT_THAT(describe(refused.error()), HasSubstr(says));
  }
  for (const auto& [from, to, says] : {
           std::tuple{"{\"B\": 8}", "{}", "workload aa: the axis 'B' has no value"},
           {"1e-06", "\"1\"", "workload.jsonl:2: inputs: eps: value: a number, true or false"},
           {"random", "drawn", "inputs: x: 'drawn' is not a type of inputs"},
           {"\"x\"", "\"xx\"", "the definition has no input 'xx'"},
           {"random", "custom", "no custom_inputs_entrypoint"},
       }) {
    problem(kScale, "\n" + changed(line("aa", 8), from, to));
    const auto refused = sol();
    ASSERT_FALSE(refused) << says;
    EXPECT_THAT(describe(refused.error()), HasSubstr(says));
  }
  problem(kScale, "\n");
  EXPECT_THAT(sol().error().message, HasSubstr("no workloads"));
}

TEST(ArenaDraws, SolGoesByNames) {
  const auto drawn = [](const std::string& name, const std::string& described = "",
                        const std::string& dtype = "float32") {
    return arena::drawn(
        Arena::sol_execbench, {},
        {.name = name, .dtype = dtype, .description = described, .is_number = false, .shape = {"4", "4"}});
  };
  EXPECT_EQ(drawn("q_norm_weight"), "torch.ones((4, 4), dtype=torch.float32)");
  EXPECT_EQ(drawn("layernorm2_bias"), "torch.zeros((4, 4), dtype=torch.float32)");
  EXPECT_EQ(drawn("mask", "The attention mask, Causal"),
            "torch.zeros((4, 4), dtype=torch.float32).masked_fill_(torch.ones(4, 4).triu(1).bool(), "
            "torch.finfo(torch.float32).min)");
  EXPECT_EQ(arena::drawn(Arena::sol_execbench, {},
                         {.name = "attention_mask",
                          .dtype = "float32",
                          .description = "",
                          .is_number = false,
                          .shape = {"Q", "K"}}),
            "(torch.zeros((Q, K), dtype=torch.float32).masked_fill_(torch.ones(K, K).triu(1).bool(), "
            "torch.finfo(torch.float32).min) if Q == K else torch.randint(0, 2, (Q, K)).to(torch.float32))");
  EXPECT_EQ(drawn("pad_mask", "Binary"), "torch.randint(0, 2, (4, 4)).to(torch.float32)");
  EXPECT_EQ(drawn("rope_sin"), "torch.randn((4, 4)).clamp_(-torch.pi, torch.pi).sin().to(torch.float32)");
  EXPECT_EQ(drawn("x_rstd1"), "torch.randn((4, 4), dtype=torch.float32).abs() + 0.1");
  EXPECT_EQ(drawn("A_log"), "torch.empty((4, 4), dtype=torch.float32).uniform_(-5.0, -1.0)");
  EXPECT_EQ(drawn("attn_weights"), "torch.randn((4, 4)).softmax(dim=-1).to(torch.float32)");
  EXPECT_EQ(drawn("o_proj_weight"), "torch.randn((4, 4), dtype=torch.float32) / 4 ** 0.5");
  EXPECT_EQ(drawn("x"), "torch.randn((4, 4), dtype=torch.float32)");
  EXPECT_EQ(drawn("A", "", "float8_e4m3fn"), "torch.randn((4, 4)).clamp_(-2.0, 2.0).to(torch.float8_e4m3fn)");
  EXPECT_EQ(drawn("A", "", "int8"), "torch.randint(-128, 128, (4, 4), dtype=torch.int8)");
  EXPECT_EQ(drawn("A", "", "bool"), "torch.randint(0, 2, (4, 4), dtype=torch.bool)");
}

TEST(ArenaDraws, FlashInferGoesByTypes) {
  arena::Definition definition;
  definition.op_type = "sampling";
  const auto drawn = [&](const std::string& name) {
    return arena::drawn(
        Arena::flashinfer_bench, definition,
        {.name = name, .dtype = "float32", .description = "", .is_number = false, .shape = {"4"}});
  };
  EXPECT_EQ(drawn("norm_weight"), "torch.randn((4,), dtype=torch.float32)");
  EXPECT_EQ(drawn("probs"), "torch.randn((4,), dtype=torch.float32).softmax(dim=-1)");
}

TEST(AxisExpression, ComputesAsPythonDoes) {
  const arena::Axes axes{{"D", 64}, {"num_heads", 12}};
  for (const auto& [text, value] : {std::pair{"D", 64},
                                    {" D//2 ", 32},
                                    {"(D + 1) // 2", 32},
                                    {"D / 2 * 3", 96},
                                    {"2 ** 3 ** 2", 512},
                                    {"-2 ** 2 + D", 60},
                                    {"-7 // 2 + 10", 6},
                                    {"-7 % 3", 2},
                                    {"D - num_heads - 2", 50},
                                    {"2 ** -1 * 4", 2},
                                    {"1.5 * D", 96},
                                    {"D*num_heads%5", 3},
                                    {"+-+4+8", 4}})
    EXPECT_EQ(arena::extent_of(text, axes).value(), value) << text;
  for (const auto& [text, says] : {std::pair{"", "ends too early"},
                                   {"D +", "ends too early"},
                                   {"(D", ") is missing"},
                                   {"D 2", "'2' is not expected"},
                                   {"E", "no axis 'E'"},
                                   {"D / 3", "not a whole number"},
                                   {"1 - D", "-63"},
                                   {"D % 0", "zero"},
                                   {"1.2.3", "not a number"},
                                   {"f(D)", "no axis 'f'"},
                                   {"D ** 99 % 5", "too large"},
                                   {"()", "is missing"}}) {
    const auto refused = arena::extent_of(text, axes);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message, HasSubstr(says)) << text;
  }
  EXPECT_THAT(arena::extent_of(std::string(100'000, '('), axes).error().message,
              HasSubstr("nested too deeply"));
  EXPECT_THAT(arena::extent_of(std::string(100'000, '-'), axes).error().message,
              HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace kernelsmith
