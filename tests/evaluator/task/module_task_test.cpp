// Tasks of modules: a reference that describes the whole task.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "task_yaml.hpp"

namespace kernelsmith {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kModule = R"(version: 1
name: gelu
backend: torch
files: {reference: reference.cpp}
)";

/// The backends of the other tests, and one that takes modules.
Result<Task> parse_module(const std::string& yaml) {
  Backends known = backends();
  known["torch"].name = "torch";
  known["torch"].form = TaskForm::module;
  known["torch"].timeout_s = 2;
  return parse_task(yaml, "task.yaml", serve, known);
}

Task module(const std::string& yaml) {
  const auto task = parse_module(yaml);
  EXPECT_TRUE(task) << describe(task.error());
  return task ? *task : Task{};
}

std::string refusal_of(const std::string& yaml) {
  const auto task = parse_module(yaml);
  EXPECT_FALSE(task) << yaml;
  return task ? "" : describe(task.error());
}

TEST(ModuleTask, NeedsAReferenceAndNothingElse) {
  const Task task = module(kModule);
  EXPECT_EQ(task.torch, TorchSettings{});
  EXPECT_EQ(task.torch.precision, "fp32");
  EXPECT_EQ(task.torch.baseline, "eager");
  EXPECT_EQ(task.torch.policy, "own_kernels");
  EXPECT_EQ(task.timeout_s, 2) << "the backend's";
  EXPECT_EQ(task.reference.main_text(), "reference text");
  EXPECT_EQ(task.baseline, task.reference);
  EXPECT_TRUE(task.seed.empty());
  EXPECT_TRUE(task.tensors.empty());
}

TEST(ModuleTask, ReadsItsSettings) {
  const Task task = module(
      "version: 1\nname: gelu\nbackend: torch\nfiles: {reference: reference.cpp, seed: seed.cpp}\n"
      "torch: {precision: tf32, baseline: compile, policy: any, cast: true}\ntolerance: {rtol: 1e-3, atol: "
      "1e-4}\n"
      "timeout_s: 3\nnondeterministic: true\n");
  EXPECT_EQ(task.torch, (TorchSettings{"tf32", "compile", "any", true}));
  EXPECT_EQ(task.tolerance.policy, "allclose");
  EXPECT_EQ(task.seed.main_text(), "seed text");
  EXPECT_TRUE(task.nondeterministic);
  EXPECT_EQ(task.timeout_s, 3);
}

TEST(ModuleTask, TheDigestCoversItsSettings) {
  const Digest plain = module(kModule).digest;
  for (const std::string setting : {"precision: bf16", "baseline: compile", "policy: any"})
    EXPECT_NE(module(kModule + "torch: {" + setting + "}\n").digest, plain) << setting;
  EXPECT_EQ(module(kModule + "torch: {precision: fp32}\n").digest, plain);
}

TEST(ModuleTask, ShowsFoldersOfHeaders) {
  const Task task = module(kModule + "toolchain: {include: [/opt/cutlass/include, /opt/more]}\n");
  EXPECT_EQ(task.toolchain_include, (std::vector<std::string>{"/opt/cutlass/include", "/opt/more"}));
  EXPECT_NE(task.digest, module(kModule).digest);
  EXPECT_THAT(refusal_of(kModule + "toolchain: {include: [cutlass]}\n"),
              AllOf(HasSubstr("task.yaml:5"), HasSubstr("no absolute path")));
  EXPECT_THAT(refusal_of(kModule + "toolchain: {includes: [/opt]}\n"), HasSubstr("include"));
  EXPECT_THAT(refusal_of(kSoftmax + "toolchain: {include: [/opt]}\n"), HasSubstr("toolchain"));
}

TEST(ModuleTask, RefusesWhatTheReferenceTells) {
  const auto refused = [](const std::string& more) { return refusal_of(kModule + more); };
  EXPECT_THAT(refused("entry: gelu\n"), AllOf(HasSubstr("task.yaml:5"), HasSubstr("entry")));
  EXPECT_THAT(refused("sizes: {n: 5}\n"), HasSubstr("sizes"));
  EXPECT_THAT(refused("threads: 2\n"), HasSubstr("threads"));
  EXPECT_THAT(refused("command: [sh]\n"), HasSubstr("command"));
  EXPECT_THAT(refusal_of("version: 1\nname: g\nbackend: torch\nfiles: {seed: seed.cpp}\n"),
              HasSubstr("files: {reference: reference.py}"));
  EXPECT_THAT(
      refusal_of(
          "version: 1\nname: g\nbackend: torch\nfiles: {reference: reference.cpp, oracle: seed.cpp}\n"),
      HasSubstr("the reference is baseline, yardstick and oracle"));
}

TEST(ModuleTask, RefusesUnknownSettings) {
  EXPECT_THAT(refusal_of(kModule + "torch: {precision: fp23}\n"),
              AllOf(HasSubstr("task.yaml:5"), HasSubstr("fp32")));
  EXPECT_THAT(refusal_of(kModule + "torch: {polcy: any}\n"), HasSubstr("policy"));
  EXPECT_THAT(refusal_of(kModule + "tolerance: {policy: exact}\n"), HasSubstr("bit for bit"));
  EXPECT_THAT(refusal_of(kModule + "tolerance: {allow: [tf32]}\n"), HasSubstr("torch: {precision: tf32}"));
}

TEST(ModuleTask, OtherTasksHaveNoTorchSettings) {
  EXPECT_THAT(refusal_of(kSoftmax + "torch: {policy: any}\n"), HasSubstr("torch"));
}

TEST(ModuleTask, WithoutADescribedBackendTheKeyTells) {
  const auto task = parse_task(kModule + "torch: {policy: any}\n", "task.yaml", serve);
  ASSERT_TRUE(task) << describe(task.error());
  EXPECT_EQ(task->torch.policy, "any");
}

}  // namespace
}  // namespace kernelsmith
