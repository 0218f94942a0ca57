// What a task that came in a message is held to.
#include <functional>
#include <limits>
#include <vector>

#include <kernelsmith/evaluator/task_file.hpp>

namespace kernelsmith {
namespace {

BackendDescription backend_of(TaskForm form) {
  BackendDescription backend;
  backend.name = "any";
  backend.form = form;
  backend.dtypes = {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::i32, Dtype::i64};
  return backend;
}

Task example(const std::string& name) {
  const BackendDescription kernels = backend_of(TaskForm::kernel);
  BackendDescription modules = backend_of(TaskForm::module);
  modules.settings.keys = {"torch"};
  const Backends backends = {
      {"cpu", kernels}, {"cuda", kernels}, {"torch", modules}, {"command", backend_of(TaskForm::command)}};
  return load_task(std::filesystem::path(KERNELSMITH_SOURCE_DIR) / "examples" / name, backends).value();
}

TEST(TaskCheck, ExamplesAreTaken) {
  for (const char* const name : {"softmax_cpu", "matmul_cpu", "attention_cpu", "conv2d_cpu", "rmsnorm_cpu",
                                 "matmul_bf16_cuda", "reduce_cuda", "rmsnorm_cuda", "softmax_cuda"}) {
    const Status sound = check_task(example(name), backend_of(TaskForm::kernel));
    EXPECT_TRUE(sound) << name << ": " << describe(sound.error());
  }
  for (const char* const name : {"decode_metadata_torch", "moe_routing_torch", "torch/level1/softmax"}) {
    const Status sound = check_task(example(name), backend_of(TaskForm::module));
    EXPECT_TRUE(sound) << name << ": " << describe(sound.error());
  }
  EXPECT_TRUE(check_task(example("circle_packing"), backend_of(TaskForm::command)));
}

TEST(TaskCheck, WhatATaskFileCouldNotSayIsRefused) {
  using Change = std::function<void(Task&)>;
  const std::vector<Change> changes = {
      [](Task& task) { task.timeout_s = 0; },
      [](Task& task) { task.timeout_s = -1; },
      [](Task& task) { task.timeout_s = 1e300; },
      [](Task& task) { task.timeout_s = std::numeric_limits<double>::quiet_NaN(); },
      [](Task& task) { task.threads = -1; },
      [](Task& task) { task.reference = {}; },
      [](Task& task) { task.entry = "f(){} //"; },
      [](Task& task) { task.sizes.clear(); },
      [](Task& task) { task.sizes["rows"] = std::int64_t{1} << 62; },
      [](Task& task) { task.sizes["rows"] = 0; },
      [](Task& task) {
        task.size_order = {"rows", "rows"};
      },
      [](Task& task) { task.timed.clear(); },
      [](Task& task) { task.timed_weights.assign(task.timed.size() + 1, 0.1); },
      [](Task& task) { task.timed_weights.assign(task.timed.size(), 0.001); },
      [](Task& task) {
        task.timed.resize(2, task.timed.front());
        task.timed_weights = {1.5, -0.5};
      },
      [](Task& task) {
        task.timed.resize(2, task.timed.front());
        task.timed_weights = {0.5, std::numeric_limits<double>::quiet_NaN()};
      },
      [](Task& task) { task.timed.front()["rows"] = 1'000'000'000; },
      [](Task& task) {
        task.check = {{{"other", 3}}};
      },
      [](Task& task) { task.tensors.clear(); },
      [](Task& task) { task.tensors.front().name = "x;"; },
      [](Task& task) { task.tensors.front().dtype = Dtype::boolean; },
      [](Task& task) { task.tensors.front().init = TensorInit::generated; },
      [](Task& task) { task.tensors.front().shape = {"rows/0"}; },
      [](Task& task) { task.tensors.front().shape = {"9999999999999999999999*rows"}; },
      [](Task& task) { task.tensors.front().shape = {"unknown"}; },
      [](Task& task) { task.declared.operations = std::string(20'000, '('); },
      [](Task& task) { task.tolerance.policy = "none"; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Task task = example("softmax_cpu");
    changes[i](task);
    const Status sound = check_task(task, backend_of(TaskForm::kernel));
    ASSERT_FALSE(sound) << "change " << i;
    EXPECT_EQ(sound.error().code, ErrorCode::bad_input);
  }
  EXPECT_FALSE(check_task(example("softmax_cpu"), backend_of(TaskForm::command)));
  EXPECT_FALSE(check_task(example("softmax_cpu"), backend_of(TaskForm::evaluator)));
}

}  // namespace
}  // namespace kernelsmith
