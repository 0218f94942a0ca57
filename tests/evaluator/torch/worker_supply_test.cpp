// What evaluators of one task after another share.
#include "worker_supply.hpp"

#include "fake_python.hpp"
#include "torch_backend.hpp"

namespace kernelsmith::torch {
namespace {

std::shared_ptr<Backend> backend_of(const std::string& reference, const TorchOptions& options) {
  Task task;
  task.name = "gelu";
  task.backend = "torch";
  task.reference = task.baseline = source(reference, "reference.py");
  return make_torch_backend(std::make_shared<const Task>(task), options).value();
}

/// For a candidate that takes 500 us: its plan, which names the planner's process, and its speedup.
std::pair<std::string, double> evaluate(Backend& backend) {
  auto compiled = backend.compile(source("{}"), {}).value();
  RunRequest request;
  request.candidate = *compiled.binary();
  request.report = compiled.report;
  const auto evaluation = backend.run(std::move(request), {}).value();
  return {evaluation.report().artifacts.front().text, evaluation.report().speedup->median};
}

TEST(WorkerSupply, TwoTasksShareAPlannerAndAreJudgedApart) {
  const Variable package("KERNELSMITH_TORCH_PYTHON_DIR", kFakePackage);
  TorchOptions options;
  options.unsandboxed = true;
  const auto alone = evaluate(*backend_of(R"({"us": 1000})", options));
  options.supply = make_torch_worker_supply();
  const auto first = evaluate(*backend_of(R"({"us": 1000})", options));
  const auto second = evaluate(*backend_of(R"({"us": 2000})", options));
  EXPECT_NE(alone.first, first.first);
  EXPECT_EQ(first.first, second.first);
  EXPECT_DOUBLE_EQ(first.second, 2);
  EXPECT_DOUBLE_EQ(second.second, 4);
}

TEST(WorkerSupply, EachDeviceHasItsOwn) {
  WorkerSupply supply;
  int made = 0;
  const auto make = [&] {
    ++made;
    return ProcessSources{nullptr, [](Role, const std::stop_token&) {
                            return Result<PythonProcess>(fail(ErrorCode::internal, "no"));
                          }};
  };
  supply.get({"python", 0, false}, make);
  supply.get({"python", 0, false}, make);
  EXPECT_EQ(made, 1);
  supply.get({"python", 1, false}, make);
  supply.get({"python", 0, false}, make);
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace kernelsmith::torch
