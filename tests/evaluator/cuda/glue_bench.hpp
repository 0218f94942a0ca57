// A task on a fake GPU: y = 2 x at n=64 (timed) and n=7 (checked), or what a test makes of it.
#pragma once

#include "cuda_host.hpp"
#include "fake_gpu.hpp"
#include "judge/fake_host.hpp"

namespace kernelsmith::cuda {

constexpr std::size_t kTimed = 0, kChecked = 1;  // shapes
constexpr std::size_t kX = 0, kY = 1;            // tensors

inline Task doubling_task(Dtype dtype = Dtype::f32, TensorRole role = TensorRole::out) {
  Task task = fake::task();
  task.backend = "cuda";
  for (TensorSpec& tensor : task.tensors) tensor.dtype = dtype;
  task.tensors[kY].role = role;
  return task;
}

/// y = 2 x, in floats.
inline void twice(const KernelCall& call) {
  for (std::int64_t i = 0; i < call.sizes[0]; ++i) call.as<float>(kY)[i] = 2 * call.as<float>(kX)[i];
}

/// A set for a task of two tensors with as many elements. `key` tells sets apart. Outputs are compared bit
/// for bit.
inline InputSet input_set(const Task& task, const TaskShape& shape, std::uint64_t key) {
  InputSet set;
  set.recipe.key = {key, 1};
  set.inputs.resize(2);
  set.outputs.resize(2);
  const Dtype dtype = task.tensors[kX].dtype;
  const std::size_t count = shape.extents[kX].elements;
  set.inputs[kX].resize(count * bytes_of(dtype));
  Expected& expected = set.outputs[kY];
  expected.dtype = dtype;
  expected.exact = true;
  expected.judged = count;
  expected.values.resize(set.inputs[kX].size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>((key + i) % 30 + 1);
    store_element(dtype, set.inputs[kX].data(), i, value);
    store_element(dtype, expected.values.data(), i, 2 * value);
  }
  if (task.tensors[kY].role == TensorRole::inout) set.inputs[kY] = set.inputs[kX];
  return set;
}

struct GlueBench {
  explicit GlueBench(Task made = doubling_task(), std::size_t slots = 4)
      : task(std::make_shared<const Task>(std::move(made))), shapes(shapes_of(*task)), most_slots(slots) {
    grid.tensors = task->tensors.size();
    planner.shapes = shapes;
    grid.kernels["twice"] = {twice, 100};
  }

  BufferLayout layout() const {
    return {*task, shapes, OraclePrecision::declared, std::size_t{1} << 30, most_slots};
  }

  Status create() {
    auto opened = Gpu::create(device, runner_start(grid));
    if (!opened) return opened.error();
    gpu = std::move(*opened);
    auto made = CudaHost::create(task, gpu, plans, layout(), {}, true);
    if (!made) return made.error();
    host = std::move(*made);
    return {};
  }

  /// A kernel of this name, from now on.
  CudaBinaryPtr kernel(const std::string& name, FakeKernel what, double call_us = 50) {
    grid.kernels[name] = {std::move(what), call_us};
    return binary(name);
  }

  std::unique_ptr<KernelSession> open(const CudaBinaryPtr& of, Trust trust = Trust::candidate) {
    if (!host)
      if (auto created = create(); !created) throw std::runtime_error(describe(created.error()));
    auto opened = host->open(of, trust, 0, {});
    if (!opened) throw std::runtime_error("not opened");
    return std::move(*opened);
  }

  InputSet set(std::size_t shape, std::uint64_t key) const { return input_set(*task, shapes[shape], key); }

  const std::shared_ptr<const Task> task;
  const std::vector<TaskShape> shapes;
  const std::size_t most_slots;
  FakeGrid grid;
  FakePlanner planner;
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  std::shared_ptr<PlanCache> plans = std::make_shared<PlanCache>(planner.function());
  std::shared_ptr<Gpu> gpu;
  std::shared_ptr<CudaHost> host;
};

/// A session with one batch of some sets.
struct Played {
  GlueBench& bench;
  std::vector<InputSet> sets;
  std::unique_ptr<KernelSession> session;

  Played(GlueBench& of, const CudaBinaryPtr& kernel, std::size_t calls = 1, std::size_t shape = kChecked,
         Trust trust = Trust::candidate)
      : bench(of), session(of.open(kernel, trust)) {
    for (std::size_t i = 0; i < calls; ++i) sets.push_back(of.set(shape, 10 + i));
    batch.shape = shape;
    for (const InputSet& set : sets) batch.calls.push_back(&set);
  }
  Judged<double> run() { return session->run(batch); }
  /// What was found in one batch.
  Findings findings() {
    const auto time = run();
    if (!time) ADD_FAILURE() << "failed";
    return session->compare();
  }

  Batch batch;
};

/// What stands in memory after a call, of a shape and slot, by offset from the tensor.
inline std::byte* tensor_at(const GlueBench& bench, std::size_t shape, std::size_t slot, std::size_t tensor) {
  return reinterpret_cast<std::byte*>(bench.host->buffers().tensor(shape, slot, tensor));
}

}  // namespace kernelsmith::cuda
