// A backend of somebody else (tests/toy_backend): one call adds its tasks, its settings, its words in prompts
// and its section of run.yaml.
#include <fstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/session/prompt_preview.hpp>
#include <kernelsmith/session/run_config.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "temporary_folder.hpp"
#include "toy_registration.hpp"

namespace kernelsmith {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ToyBackend : public ::testing::Test {
 protected:
  ToyBackend() { add_backend(registry_, toy_backend()); }

  /// The task that its template makes, with `more` at the end of task.yaml.
  Result<Task> load(const std::string& more = {}) {
    TaskFolder files{{}, registry_.backends.at("toy").template_files};
    for (SourceFile& file : files.files)
      if (file.path == "task.yaml") file.text += more;
    write_task_folder(files, folder_.path()).value();
    auto loaded = load_task_folder(folder_.path(), registry_.backends);
    if (!loaded) return loaded.error();
    return loaded->task;
  }

  Registry registry_ = default_registry();
  TemporaryFolder folder_;
};

TEST_F(ToyBackend, ReadsItsOwnKeysOfATask) {
  const auto task = load();
  ASSERT_TRUE(task) << describe(task.error());
  EXPECT_EQ(task->settings, "2");
  const auto refused = load("torch: {policy: any}\n");
  ASSERT_FALSE(refused);
  EXPECT_THAT(describe(refused.error()), AllOf(HasSubstr("task.yaml:6"), HasSubstr("'torch'")));
}

TEST_F(ToyBackend, IsConfiguredByTheRunsSectionEvaluator) {
  const Task task = load().value();
  auto config = default_config(task, registry_).value();
  const Status read = read_config("evaluator: {bonus: 5}\n", "run.yaml", registry_, config);
  ASSERT_TRUE(read) << describe(read.error());
  const auto evaluator = config.evaluator.provider->make(task, {}).value();
  EvaluationJob job;
  job.task = task.digest;
  job.source = Source::create({{"candidate.toy", "20"}}).value();
  const auto evaluation =
      answer_of<Evaluation>([&](auto done) { evaluator->start(job, {}, std::move(done)); }).get();
  ASSERT_TRUE(evaluation) << describe(evaluation.error());
  EXPECT_EQ(evaluation->metrics()->fitness().low, 45);
}

TEST_F(ToyBackend, CanBeSentToAFleet) {
  const Task task = load().value();
  auto config = default_config(task, registry_);
  ASSERT_TRUE(
      read_config("evaluator: {fleet: {nats: \"nats://host:4222\"}}\n", "run.yaml", registry_, *config));
  EXPECT_FALSE(config->evaluator.provider->is_local());
}

TEST_F(ToyBackend, SaysItsFactsInPrompts) {
  const Task task = load().value();
  std::filesystem::create_directories(folder_.path() / "prompts/mine");
  std::ofstream(folder_.path() / "prompts/mine/role.mustache") << "The weight is {{task.weight}}.\n";
  PromptOptions options;
  options.folder = folder_.path() / "prompts";
  options.set = "mine";
  const auto builder =
      PromptBuilder::create(task, with_backend(options, task, registry_.backends.at("toy"))).value();
  ProposalRequest request;
  request.op = Operator::translate;
  const auto prompt = builder.build(request).value();
  EXPECT_THAT(prompt.system + prompt.user, HasSubstr("The weight is 2."));
}

}  // namespace
}  // namespace kernelsmith
