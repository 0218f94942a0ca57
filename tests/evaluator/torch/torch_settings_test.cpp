// The settings of a task of the backend `torch`: from task.yaml, from a message, and in the digest.
#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/evaluator/torch/torch_evaluator.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>

#include "testing.hpp"

namespace kernelsmith {
namespace {

Result<Task> parse(const std::string& more) {
  const std::string yaml =
      "version: 1\nname: gelu\nbackend: torch\nfiles: {reference: reference.py}\n" + more;
  const auto read = [](const std::string&) -> Result<std::string> { return "class Model: ...\n"; };
  return parse_task(yaml, "task.yaml", read, {{"torch", describe_torch_backend()}});
}

Task task_with(const std::string& more) { return parse(more).value(); }

std::string refusal_of(const std::string& more) {
  const auto task = parse(more);
  EXPECT_FALSE(task) << more;
  return task ? "" : describe(task.error());
}

TEST(TorchSettings, AreTheDefaultsIfNothingIsSaid) {
  const auto torch = torch_settings(task_with(""));
  ASSERT_TRUE(torch);
  EXPECT_EQ(torch->precision, "fp32");
  EXPECT_EQ(torch->baseline, "eager");
  EXPECT_EQ(torch->policy, "own_kernels");
  EXPECT_EQ(task_with("torch: {precision: fp32}\n").digest, task_with("").digest);
}

TEST(TorchSettings, AreRead) {
  const Task task = task_with(
      "torch: {precision: tf32, baseline: compile, policy: any, cast: true}\n"
      "toolchain: {include: [/opt/cutlass/include, /opt/more]}\n");
  const std::vector<std::string> include = {"/opt/cutlass/include", "/opt/more"};
  EXPECT_EQ(torch_settings(task).value(), (TorchSettings{"tf32", "compile", "any", true, include, ""}));
}

TEST(TorchSettings, ABaselineCanBeAModuleOfTheTask) {
  const std::string yaml = R"(version: 1
name: gelu
backend: torch
files: {reference: reference.py, also: expert.py}
torch: {baseline: {module: expert.py}}
)";
  const auto read = [](const std::string& path) -> Result<std::string> { return path + "'s text\n"; };
  const Backends backends = {{"torch", describe_torch_backend()}};
  const auto task = parse_task(yaml, "task.yaml", read, backends).value();
  EXPECT_EQ(torch_settings(task)->module, "expert.py");
  EXPECT_EQ(baseline_module(task).value()->text, "expert.py's text\n");
  EXPECT_EQ(baseline_module(task_with("")).value(), nullptr);

  const auto lacking = baseline_module(task_with("torch: {baseline: {module: other.py}}\n"));
  EXPECT_THAT(describe(lacking.error()), AllOf(HasSubstr("other.py"), HasSubstr("files: {also: other.py}")));
  EXPECT_THAT(refusal_of("torch: {baseline: {modul: expert.py}}\n"), HasSubstr("module"));
}

TEST(TorchSettings, TheDigestCoversEach) {
  const Digest plain = task_with("").digest;
  for (const std::string setting :
       {"torch: {precision: bf16}", "torch: {baseline: compile}", "torch: {baseline: {module: expert.py}}",
        "torch: {policy: any}", "torch: {cast: true}", "toolchain: {include: [/opt]}"})
    EXPECT_NE(task_with(setting + "\n").digest, plain) << setting;
}

TEST(TorchSettings, WhatIsUnknownIsRefusedWithItsLine) {
  EXPECT_THAT(refusal_of("torch: {precision: fp23}\n"), AllOf(HasSubstr("task.yaml:5"), HasSubstr("fp32")));
  EXPECT_THAT(refusal_of("torch: {polcy: any}\n"), HasSubstr("policy"));
  EXPECT_THAT(refusal_of("tolerance: {allow: [tf32]}\n"), HasSubstr("torch: {precision: tf32}"));
  EXPECT_THAT(refusal_of("toolchain: {include: [cutlass]}\n"),
              AllOf(HasSubstr("task.yaml:5"), HasSubstr("not an absolute path")));
  EXPECT_THAT(refusal_of("toolchain: {includes: [/opt]}\n"), HasSubstr("include"));
}

TEST(TorchSettings, AWorkloadMayHaveItsOwnTolerance) {
  const std::string yaml =
      "tolerance: {rtol: 1e-3, atol: 1e-3}\nworkloads:\n- {name: a}\n"
      "- {name: b, tolerance: {rtol: 1e-2, atol: 1e-2, cap: 2, either: true, truth: reference}}\n"
      "- {name: c, tolerance: {policy: auto}}\n";
  const Task task = task_with(yaml);
  EXPECT_TRUE(check_task(task, describe_torch_backend()));
  const auto workloads = torch_settings(task)->workloads;
  ASSERT_EQ(workloads.size(), 3U);
  EXPECT_EQ(tolerance_at(task.tolerance, workloads[0]), task.tolerance);
  const Tolerance& own = tolerance_at(task.tolerance, workloads[1]);
  EXPECT_EQ(own.policy, "allclose");
  EXPECT_EQ(own.rtol, 1e-2);
  EXPECT_EQ(own.cap, 2);
  EXPECT_EQ(own.either, true);
  EXPECT_EQ(own.truth, "reference");
  EXPECT_EQ(tolerance_at(task.tolerance, workloads[2]), Tolerance{});
  EXPECT_NE(task.digest, task_with(yaml.substr(0, yaml.find("- {name: c"))).digest);

  const auto refused = [](const std::string& tolerance) {
    return refusal_of("workloads:\n- {name: a, tolerance: " + tolerance + "}\n");
  };
  EXPECT_THAT(refused("{policy: exact}"), AllOf(HasSubstr("task.yaml:6"), HasSubstr("bit for bit")));
  EXPECT_THAT(refused("{allow: [tf32]}"), HasSubstr("torch: {precision: tf32}"));
  EXPECT_THAT(refused("{rtol: 2}"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refused("{caps: 2}"), HasSubstr("cap"));
}

TEST(TorchSettings, OfAMessageAreChecked) {
  const BackendDescription torch = describe_torch_backend();
  Task task = task_with("torch: {precision: tf32}\n");
  EXPECT_TRUE(check_task(task, torch));
  for (
      const std::string settings :
      {"{}", "[1]", "no JSON", "{\"precision\":5}",
       R"({"baseline":"eager","cast":false,"include":[],"policy":"any","precision":"fp8"})",
       R"({"baseline":"eager","cast":false,"include":[],"policy":"any","precision":"fp32","workloads":[)"
       R"({"name":"a","arguments":"{}","weight":1,"check":false,"tolerance":{"policy":"allclose","allow":[],)"
       R"("rtol":2,"atol":0}}]})"}) {
    task.settings = settings;
    EXPECT_EQ(check_task(task, torch).error().code, ErrorCode::bad_input) << settings;
    EXPECT_EQ(torch_settings(task).error().code, ErrorCode::bad_input) << settings;
  }
}

}  // namespace
}  // namespace kernelsmith
