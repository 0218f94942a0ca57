#include "bank.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "inputs.hpp"
#include "truth.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kCheckSets = 2;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A constant tensor is that of the shape's first set; `earlier` are its sets so far. Every other set holds
/// the special values that the task declares: a shape's two check sets are one of each.
Result<InputSet> make_set(const Task& task, const TaskShape& shape, std::size_t index,
                          const std::vector<InputSet>& earlier, Truth& truth, SecretStream& random) {
  const bool with_specials = earlier.size() % 2 == 1;
  InputSet set;
  set.inputs.resize(task.tensors.size());
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    if (task.tensors[t].role == TensorRole::out) continue;
    const bool known = task.tensors[t].constant && !earlier.empty();
    set.inputs[t] = known ? earlier.front().inputs[t]
                          : draw_tensor(task.tensors[t], shape.extents[t], with_specials, random);
  }
  auto outputs = truth.expect(index, set.inputs);
  if (!outputs) return outputs.error();
  set.outputs = std::move(*outputs);
  return set;
}

/// Inputs once; outputs twice, as values and weights.
std::size_t bytes_of_set(const Task& task, const TaskShape& shape) {
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    if (task.tensors[t].role != TensorRole::out) bytes += shape.extents[t].bytes;
    if (task.tensors[t].role != TensorRole::in) bytes += 2 * shape.extents[t].bytes;
  }
  return bytes;
}

}  // namespace

std::size_t TaskShape::bytes() const {
  std::size_t total = 0;
  for (const TensorExtent& extent : extents) total += extent.bytes;
  return total;
}

std::vector<TaskShape> shapes_of(const Task& task) {
  std::vector<TaskShape> shapes;
  const auto add = [&](const Sizes& sizes, bool timed) {
    TaskShape& shape = shapes.emplace_back();
    shape.name = describe(sizes);
    shape.timed = timed;
    for (const auto& size : sizes) shape.sizes.push_back(size.second);
    // The loader has checked them.
    shape.extents = extents_of(task, sizes).value();
  };
  for (const Sizes& sizes : task.timed) add(sizes, true);
  for (const Sizes& sizes : task.check) add(sizes, false);
  return shapes;
}

bool needs_truth(const Task& task) {
  const auto real = [](const TensorSpec& tensor) {
    return tensor.role != TensorRole::in && is_real(tensor.dtype);
  };
  return task.tolerance.policy != "exact" && std::ranges::any_of(task.tensors, real);
}

Result<Bank> make_bank(const Task& task, const std::vector<TaskShape>& shapes, const CpuBinary& oracle,
                       const RunnerSettings& settings, const BankLimits& limits) {
  auto truth = Truth::create(task, shapes, oracle, settings);
  if (!truth) return truth.error();
  SecretStream random;
  Bank bank(shapes.size());
  std::vector<std::size_t> wanted(shapes.size(), kCheckSets);
  for (std::size_t s = 0; s < task.timed.size(); ++s)
    wanted[s] = std::clamp(limits.bytes / task.timed.size() / bytes_of_set(task, shapes[s]), limits.least,
                           limits.most);

  // Round by round, so that the time left is shared out evenly.
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t round = 0; round < limits.most; ++round)
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      const bool enough = round >= limits.least && seconds_since(start) > limits.seconds;
      if (round >= wanted[s] || enough) continue;
      auto set = make_set(task, shapes[s], s, bank[s], *truth, random);
      if (!set) return set.error();
      bank[s].push_back(std::move(*set));
    }
  return bank;
}

}  // namespace kernelsmith
