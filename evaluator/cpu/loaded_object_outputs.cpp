// LoadedObject: what its calls have written.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "call_faults.hpp"
#include "lanes.hpp"
#include "loaded_object.hpp"
#include "stopwatch.hpp"

namespace kernelsmith {

Judged<void> LoadedObject::check_rows() {
  if (trust_ == Trust::trusted) return {};
  const Stopwatch watch(costs_.compare_ms);
  const std::size_t first = dealt_.checked, rows = dealt_.done - first;
  const std::size_t lanes = lanes_for(rows * setup_.shapes[dealt_.shape].bytes());
  std::vector<std::vector<Written>> written(rows);
  for (auto& row : written) row.resize(setup_.task.tensors.size(), {std::vector<Findings>(lanes)});
  in_lanes(lanes, [&](std::size_t lane) {
    for (std::size_t row = 0; row < rows; ++row)
      // By turns: parts of small outputs differ in size.
      look_through_row(first + row, (lane + row) % lanes, written[row]);
  });
  for (std::size_t row = 0; row < rows; ++row)
    if (auto verdict = judge_row(first + row, written[row]); !verdict) return verdict;
  dealt_.checked = dealt_.done;
  return {};
}

void LoadedObject::look_through_row(std::size_t slot, std::size_t part, std::vector<Written>& written) const {
  const auto& tensors = setup_.task.tensors;
  const std::size_t shape = dealt_.shape;
  const InputSet& set = bank_[shape][dealt_.sets[slot]];
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == TensorRole::in) continue;
    const std::span<const std::byte> actual(arena_->tensor(shape, slot, t), arena_->tensor_bytes(shape, t));
    const std::size_t parts = written[t].parts.size();
    written[t].parts[part] = look_through(set.outputs[t], actual, poison_, part, parts);
    if (part == 0)
      written[t].margins_hold = std::ranges::all_of(
          arena_->margins(shape, slot, t), [&](const auto& margin) { return untouched(margin, poison_); });
  }
}

Judged<void> LoadedObject::judge_row(std::size_t slot, const std::vector<Written>& written) {
  const auto& tensors = setup_.task.tensors;
  const TaskShape& shape = setup_.shapes[dealt_.shape];
  const InputSet& set = bank_[dealt_.shape][dealt_.sets[slot]];
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == TensorRole::in) continue;
    if (!written[t].margins_hold) return outside(shape, tensors[t]);
    const CheckResult result = conclude(set.outputs[t], written[t].parts);
    double& worst = worst_error_[dealt_.shape];
    worst = std::max(worst, result.error);
    if (result.fault != Fault::none)
      return wrong(result, set.outputs[t], shape, tensors[t], shape.extents[t]);
  }
  return {};
}

Judged<void> LoadedObject::repeat_last() {
  const auto& tensors = setup_.task.tensors;
  const std::size_t shape = dealt_.shape, calls = dealt_.sets.size();
  const std::vector<std::size_t> sets = dealt_.sets;
  std::vector<std::vector<std::byte>> before;
  const auto each_output = [&](auto&& visit) {
    for (std::size_t slot = 0; slot < calls; ++slot)
      for (std::size_t t = 0; t < tensors.size(); ++t)
        if (tensors[t].role != TensorRole::in)
          visit(t,
                std::span<const std::byte>(arena_->tensor(shape, slot, t), arena_->tensor_bytes(shape, t)));
  };
  each_output([&](std::size_t, auto bytes) { before.emplace_back(bytes.begin(), bytes.end()); });
  unload();
  if (auto loaded = load(); !loaded) return loaded.error();
  Hand rest = std::exchange(deals_[shape].trials, Hand::of(sets));
  const auto again = one_batch(shape, calls);
  deals_[shape].trials = std::move(rest);
  if (!again) return again.error();
  std::size_t at = 0, different = tensors.size();
  each_output([&](std::size_t t, auto bytes) {
    if (!std::ranges::equal(bytes, before[at++])) different = t;
  });
  if (different == tensors.size()) return {};
  return differing(setup_.shapes[shape], tensors[different]);
}

}  // namespace kernelsmith
