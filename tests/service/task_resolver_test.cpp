#include "evaluation/task_resolver.hpp"

#include <string>

#include <gmock/gmock.h>

#include "fake_evaluators.hpp"

namespace kernelsmith::service {
namespace {

using ::testing::HasSubstr;

const std::string kReference =
    "class Model(torch.nn.Module):\n    pass\ndef get_inputs():\n    return []\ndef get_init_inputs():\n    "
    "return []\n";

EvaluationRequest of_reference(const std::string& reference = kReference) {
  EvaluationRequest request;
  request.reference_code = reference;
  request.kernel_code = "class ModelNew: pass\n";
  return request;
}

EvaluationRequest of_task(const std::string& name) {
  EvaluationRequest request;
  request.task = name;
  request.kernel_code = "7";
  return request;
}

TEST(TaskResolver, EqualReferencesAreOneTask) {
  TaskResolver resolver({}, module_backends(), "fp32");
  const auto one = resolver.assign(of_reference()).value(), same = resolver.assign(of_reference()).value();
  EXPECT_EQ(one.task, same.task);
  EXPECT_EQ(one.task->backend, "torch");
  EXPECT_EQ(torch_settings(*one.task)->baseline, "eager");
  EXPECT_EQ(torch_settings(*one.task)->policy, "any");
  EXPECT_EQ(one.task->reference.main_text(), kReference);
  EXPECT_EQ(one.candidate.main_text(), "class ModelNew: pass\n");
  EXPECT_NE(resolver.assign(of_reference(kReference + "# other\n"))->task, one.task);
}

TEST(TaskResolver, TheBaselineAndThePrecisionMakeAnotherTask) {
  TaskResolver resolver({}, module_backends(), "tf32");
  EvaluationRequest compiled = of_reference();
  compiled.compiled_baseline = true;
  const auto eager = resolver.assign(of_reference()), other = resolver.assign(compiled);
  EXPECT_EQ(torch_settings(*other->task)->baseline, "compile");
  EXPECT_EQ(torch_settings(*other->task)->precision, "tf32");
  EXPECT_NE(other->task->digest, eager->task->digest);
}

TEST(TaskResolver, AnotherEntryPointIsGivenTheUsualName) {
  TaskResolver resolver({}, module_backends(), "fp32");
  EvaluationRequest request =
      of_reference("class Net(torch.nn.Module):\n    pass\n" + kReference.substr(kReference.find("def")));
  EXPECT_EQ(resolver.assign(request).error().where, "reference_code");
  request.entry_point = "Net";
  const auto found = resolver.assign(request).value();
  EXPECT_THAT(std::string(found.task->reference.main_text()), HasSubstr("    Model = Net\n"));
  EXPECT_THAT(std::string(found.candidate.main_text()),
              HasSubstr("if \"NetNew\" in globals():\n    ModelNew = NetNew\n"));
}

TEST(TaskResolver, TasksAreChosenByNameOrBecauseThereIsOne) {
  TaskResolver one({a_task("hill")}, {}, "fp32"), two({a_task("hill"), a_task("dale")}, {}, "fp32"),
      none({}, {}, "fp32");
  EXPECT_EQ(one.assign(of_task(""))->task->name, "hill");
  EXPECT_EQ(two.assign(of_task("dale"))->task->name, "dale");
  EXPECT_EQ(two.assign(of_task("")).error().where, "reference_code");
  EXPECT_THAT(two.assign(of_task("dalle")).error().hint, HasSubstr("dale"));
  EXPECT_THAT(none.assign(of_task("hill")).error().hint, HasSubstr("--task"));
}

TEST(TaskResolver, ACandidateTakesTheNameOfTheSeedsMainFile) {
  Task task = *a_task("several");
  task.seed = Source::create({{"main.cpp", "old"}, {"other.hpp", "kept"}}).value();
  TaskResolver resolver({std::make_shared<const Task>(task)}, {}, "fp32");
  const auto found = resolver.assign(of_task("several")).value();
  EXPECT_EQ(found.candidate.find("main.cpp")->text, "7");
  EXPECT_EQ(found.candidate.find("other.hpp")->text, "kept");
}

}  // namespace
}  // namespace kernelsmith::service
