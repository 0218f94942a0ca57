#include "runner/runner_files.hpp"

#include <kernelsmith/evaluator/task_file.hpp>
#include <kernelsmith/sandbox/locate.hpp>
#include <kernelsmith/sandbox/run.hpp>

#include "testing.hpp"
#include "toolchain/compiler.hpp"

namespace kernelsmith::cpu {
namespace {

Task task_with(const std::string& flags) {
  return parse_task(
             "version: 1\nname: t\nbackend: cpu\nentry: t\nfiles: {reference: reference.cpp}\n"
             "flags: " +
                 flags + "\nsizes: {n: 8}\ntensors: [{name: y, role: out, dtype: f32, shape: [n]}]\n",
             "task.yaml", [](const std::string&) -> Result<std::string> { return "//\n"; })
      .value();
}

std::vector<std::string> names_shown(const std::string& flags) {
  const auto compiler = CpuCompiler::create(task_with(flags), {}).value();
  const auto linked = compiler->link_all_libraries().value();
  SandboxSpec spec;
  RunnerFiles::create(locate_program("kernelsmith-runner", "KERNELSMITH_RUNNER").value(), linked->object())
      .value()
      ->show_in(spec, "/program");
  std::vector<std::string> names;
  for (const Bind& bind : spec.copied) {
    EXPECT_TRUE(std::filesystem::is_regular_file(bind.source)) << bind.source;
    names.push_back(bind.target.filename().string());
  }
  return names;
}

TEST(RunnerFiles, AreTheProgramTheLoaderAndTheLibrariesAndNoFolder) {
  const auto names = names_shown("[]");
  for (const char* const part : {"program", "ld-linux", "libc.so", "libm.so", "libstdc++.so"})
    EXPECT_THAT(names, Contains(HasSubstr(part)));
  EXPECT_THAT(names, Not(Contains(HasSubstr("libgomp"))));
}

TEST(RunnerFiles, HoldWhatTheTasksFlagsLink) {
  EXPECT_THAT(names_shown("[-fopenmp]"), Contains(HasSubstr("libgomp")));
}

TEST(RunnerFiles, AreEnoughToRunTheProgramAndShowNothingElse) {
  const auto compiler = CpuCompiler::create(task_with("[]"), {}).value();
  const auto linked = compiler->link_all_libraries().value();
  SandboxSpec spec;
  RunnerFiles::create("/bin/ls", linked->object()).value()->show_in(spec, "/list");
  spec.argv = {"/list", "-A", "/", "/usr", "/home", "/proc"};
  const auto result = run_sandboxed(spec).value();
  EXPECT_THAT(result.out, HasSubstr("list"));
  for (const char* const folder : {"/home", "/proc"}) EXPECT_THAT(result.err, HasSubstr(folder));
  for (const char* const name : {"bin", "share", "include"}) EXPECT_THAT(result.out, Not(HasSubstr(name)));
}

}  // namespace
}  // namespace kernelsmith::cpu
