// What is wrong with a task or its evaluator is reported before anything is evaluated, with file and line.
#include "evaluating.hpp"

namespace kernelsmith {
namespace {

Error refused(const std::string& evaluator, const std::string& settings = "") {
  const Evaluating evaluating(evaluator, settings);
  if (!evaluating.made()) return evaluating.made().error();
  ADD_FAILURE() << "it was made";
  return {};
}

/// The error of a task.yaml with these lines.
Error bad_task(const std::string& settings) {
  try {
    const Evaluating evaluating("def evaluate(path): return 1\n", settings);
    ADD_FAILURE() << settings << " was taken";
    return {};
  } catch (const ErrorException& failed) {
    return failed.error();
  }
}

TEST(PythonTask, AnEvaluatorThatCannotBeImportedIsNamedWithItsLine) {
  const Error missing = refused("import os\nimport no_such_module\n");
  EXPECT_EQ(missing.code, ErrorCode::refused);
  EXPECT_THAT(missing.message, HasSubstr("No module named 'no_such_module'"));
  EXPECT_THAT(missing.where, EndsWith("/evaluator.py:2"));
  EXPECT_THAT(refused("x = 1\n\ndef evaluate(path) return 1\n").where, EndsWith("/evaluator.py:3"));
  EXPECT_THAT(refused("\nimport sys; sys.exit(1)\n").where, EndsWith("/evaluator.py:2"));
  EXPECT_THAT(refused("import os; os._exit(5)\n").message, HasSubstr("exit status 5"));
}

TEST(PythonTask, AnEvaluatorWithoutEvaluateIsRefused) {
  const Error error = refused("def evaluation(path): return 1\n");
  EXPECT_EQ(error.code, ErrorCode::refused);
  EXPECT_THAT(error.message, HasSubstr("evaluate(program_path)"));
  EXPECT_THAT(error.where, HasSubstr("/evaluator.py"));
}

TEST(PythonTask, APythonThatIsNotThereIsNamed) {
  const Error error = refused("def evaluate(path): return 1\n", "python: /no/such/python\n");
  EXPECT_EQ(error.code, ErrorCode::tool_missing);
  EXPECT_EQ(error.where, "/no/such/python");
  EXPECT_THAT(error.hint, HasSubstr("KERNELSMITH_PYTHON"));
}

TEST(PythonTask, BadKeysAreRefusedWithTheirLine) {
  EXPECT_THAT(bad_task("cascade: []\n").where, EndsWith("task.yaml:6"));
  EXPECT_THAT(bad_task("memory_mb: none\n").where, EndsWith("task.yaml:6"));
  EXPECT_THAT(bad_task("threads: 2\n").message, HasSubstr("threads"));
}

TEST(PythonTask, AnEvaluatorThatIsNotThereIsNamed) {
  Backends backends;
  backends["python"] = describe_python_backend();
  const auto task = parse_task(
      "version: 1\nname: x\nbackend: python\nevaluator: none.py\n", "/no/such/task.yaml",
      [](const std::string&) -> Result<std::string> { return fail(ErrorCode::not_found, "none"); }, backends);
  EXPECT_EQ(task.error().where, "/no/such/task.yaml:4");
  EXPECT_THAT(task.error().message, HasSubstr("/no/such/none.py"));
}

TEST(PythonTask, TheDigestIsOfTheEvaluatorsText) {
  const Evaluating one("def evaluate(path): return 1\n"), same("def evaluate(path): return 1\n"),
      other("def evaluate(path): return 2\n");
  EXPECT_EQ(one.task().digest, same.task().digest);
  EXPECT_NE(one.task().digest, other.task().digest);
}

TEST(PythonTask, AnotherBackendsTaskIsUnsupported) {
  Task task;
  task.backend = "cpu";
  EXPECT_EQ(make_python_evaluator(task).error().code, ErrorCode::unsupported);
}

TEST(PythonDescription, TheMachineIsTried) {
  const BackendDescription description = describe_python_backend();
  const auto checks = description.examine_machine(true);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks.front().status, CheckStatus::ok) << checks.front().detail;
  const Evaluating evaluating("def evaluate(path): return 1\n");
  EXPECT_EQ(description.examine_task(evaluating.task()).front().status, CheckStatus::ok);
}

}  // namespace
}  // namespace kernelsmith
