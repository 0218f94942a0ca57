// What a backend's description is used for, with one that is made up here.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/session/doctor.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "temporary_folder.hpp"
#include "toy_task.hpp"

namespace kernelsmith {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MachineCheck check_named(const std::string& name, CheckStatus status = CheckStatus::ok) {
  return {name, status, name + " of the toy", "", true};
}

BackendDescription described_toy() {
  BackendDescription toy;
  toy.name = "toy";
  toy.language = "Toyish";
  toy.suffix = ".toy";
  toy.form = TaskForm::kernel;
  toy.dtypes = {Dtype::f16};
  toy.interface_files = [](const Task& task) {
    return std::vector<SourceFile>{{task.entry + ".h", "void " + task.entry + "();\n"}};
  };
  toy.hardware = [] { return std::string("a toy machine"); };
  toy.examine_machine = [](bool) { return std::vector{check_named("wheels")}; };
  toy.examine_task = [](const Task&) { return std::vector{check_named("task")}; };
  toy.examine_precision = [](const Task&) {
    return std::vector{check_named("inputs", CheckStatus::limited)};
  };
  return toy;
}

Registry registry_with_a_toy() {
  Registry registry = default_registry();
  registry.backends["toy"] = described_toy();
  registry.evaluators["toy"] = [] { return std::make_unique<toy::SumProvider>(); };
  return registry;
}

Task toy_kernel() {
  Task task;
  task.name = "roll";
  task.backend = "toy";
  task.entry = "roll";
  task.reference = Source::create({{"reference.cpp", "void roll() {}\n"}}).value();
  return task;
}

std::vector<std::string> names_of(const std::vector<MachineCheck>& checks) {
  std::vector<std::string> names;
  for (const MachineCheck& check : checks) names.push_back(check.name);
  return names;
}

TEST(BackendDescriptions, AreNamedAsTheEvaluatorsOfTasksInFiles) {
  const Registry registry = default_registry();
  EXPECT_EQ(registry.backends.size(), registry.evaluators.size());
  for (const auto& [name, backend] : registry.backends) {
    EXPECT_EQ(backend.name, name);
    EXPECT_TRUE(registry.evaluators.contains(name)) << name;
    EXPECT_EQ(backend.form == TaskForm::kernel, !backend.dtypes.empty()) << name;
    EXPECT_FALSE(backend.summary.empty()) << name;
  }
}

TEST(BackendDescriptions, SayWhatATaskFileMayHold) {
  const Registry registry = registry_with_a_toy();
  const TemporaryFolder folder;
  TaskFolder files;
  const auto write = [&](const std::string& dtype) {
    files.files = {
        {"task.yaml",
         "version: 1\nname: roll\nbackend: toy\nentry: roll\nfiles: {reference: r.cpp}\ntensors:\n  - "
         "{name: y, role: out, shape: [4], dtype: " +
             dtype + "}\n"},
        {"r.cpp", "r"}};
    write_task_folder(files, folder.path()).value();
    return load_task_folder(folder.path(), registry.backends);
  };
  EXPECT_TRUE(write("f16"));
  const auto refused = write("f32");
  ASSERT_FALSE(refused);
  EXPECT_THAT(describe(refused.error()), AllOf(HasSubstr("task.yaml:7: the backend 'toy' does not take f32"),
                                               HasSubstr("it takes f16")));
}

TEST(BackendDescriptions, FillPrompts) {
  const Task task = toy_kernel();
  const PromptOptions options = with_backend({}, task, described_toy());
  EXPECT_EQ(options.hardware, "a toy machine");
  EXPECT_THAT(options.interface, ElementsAre(SourceFile{"roll.h", "void roll();\n"}));
  const auto builder = PromptBuilder::create(task, options).value();
  EXPECT_EQ(builder.blank_candidate().files().front().path, "candidate.toy");
  PromptOptions own;
  own.hardware = "mine";
  EXPECT_EQ(with_backend(own, task, described_toy()).hardware, "mine");
}

TEST(BackendDescriptions, ReachTheRunsConfigurationAndItsProposer) {
  const Registry registry = registry_with_a_toy();
  auto config = default_config(toy_kernel(), registry).value();
  EXPECT_EQ(config.backend.language, "Toyish");
  const TemporaryFolder folder;
  const Status read =
      read_config("proposer: {kind: manual, folder: " + (folder.path() / "queue").string() + "}\n",
                  "run.yaml", registry, config);
  ASSERT_TRUE(read) << describe(read.error());
  const auto planner = config.proposer.provider->planner(toy_kernel()).value();
  ProposalRequest request;
  request.op = Operator::translate;
  const auto planned = planner(request).value();
  const auto shown = PromptBuilder::create(
      toy_kernel(),
      with_backend(*config.proposer.provider->outlook().prompts({}), toy_kernel(), config.backend));
  EXPECT_EQ(planned.prompt, shown->build(request)->digest()) << "the proposer shows what a preview shows";
}

TEST(BackendDescriptions, AreWhatTheDoctorAsks) {
  const Registry registry = registry_with_a_toy();
  EXPECT_THAT(names_of(examine_machine(".", registry.backends).checks), Contains("wheels"));
  EXPECT_THAT(names_of(examine_task(toy_kernel(), registry.backends)), ElementsAre("task", "inputs"));
  EXPECT_THAT(names_of(examine_precision(toy_kernel(), registry.backends)), ElementsAre("inputs"));

  Backends failing = registry.backends;
  failing["toy"].examine_task = [](const Task&) {
    return std::vector{check_named("task", CheckStatus::missing)};
  };
  EXPECT_THAT(names_of(examine_task(toy_kernel(), failing)), ElementsAre("task"));

  Task command = toy_kernel();
  command.backend = "command";
  EXPECT_THAT(examine_precision(command, registry.backends), IsEmpty());
}

TEST(Backends, AToolkitOfARunFolderIsNamedAgain) {
  const Registry registry = default_registry();
  Task task = toy_kernel();
  task.backend = "cuda";
  RunConfig config = default_config(task, registry).value();
  ASSERT_TRUE(read_config("evaluator: {toolkit: /no/such/kit}", "run.yaml", registry, config));
  EvaluatorProvider& provider = *config.evaluator.provider;
  provider.mark_untrusted();
  EXPECT_THAT(provider.settings_to_reconfirm(), ElementsAre("toolkit=/no/such/kit"));
  EXPECT_EQ(provider.make(task, {}).error().where, "evaluator.toolkit");
  EXPECT_EQ(provider.profile(task, task.reference, {}).error().where, "evaluator.toolkit");
  ASSERT_TRUE(read_config("evaluator: {toolkit: /no/such/kit}", "--set", registry, config));
  EXPECT_NE(provider.make(task, {}).error().where, "evaluator.toolkit");
}

TEST(Backends, ARunFolderTurnsTheSandboxOffForNothingThatRunsPrograms) {
  const Registry registry = default_registry();
  for (const auto& [name, make] : registry.evaluators) {
    Task task = toy_kernel();
    task.backend = name;
    RunConfig config = default_config(task, registry).value();
    ASSERT_TRUE(read_config("evaluator: {sandbox: none}", "run.yaml", registry, config)) << name;
    config.evaluator.provider->mark_untrusted();
    const auto expect_refused = [name = name](const auto& answer) {
      ASSERT_FALSE(answer) << name;
      if (answer.error().code == ErrorCode::unsupported) return;  // it has no such thing
      EXPECT_EQ(answer.error().where, "evaluator.sandbox") << name << describe(answer.error());
    };
    expect_refused(config.evaluator.provider->describe_plan(task, task.reference));
    expect_refused(config.evaluator.provider->profile(task, task.reference, {}));
  }
}

}  // namespace
}  // namespace kernelsmith
