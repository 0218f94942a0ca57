#include "one_by_one.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "call_faults.hpp"
#include "cores.hpp"
#include "step_stream.hpp"

namespace kernelsmith {
namespace {

/// Of the outputs and of the inputs of each call: who leaves a hundredth of an output for later, or writes to
/// a hundredth of an input, is found out within a few batches.
constexpr std::size_t kOutputLines = 8, kInputLines = 4;
/// Of the inputs of one call: what is larger takes longer to be read than a short call does.
constexpr std::size_t kMostStreamedBytes = std::size_t{64} << 10;
/// A pipe holds pages, and each tensor may begin a new one.
constexpr std::size_t kPage = 4096;

bool granted(std::size_t room) {
  auto stream = StepStream::create();
  return stream && stream->first.make_room(room);
}

}  // namespace

std::vector<std::size_t> streamed_tensors(const Task& task, const TaskShape& shape) {
  std::vector<std::size_t> streamed;
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    if (task.tensors[t].role == TensorRole::out || task.tensors[t].constant) continue;
    streamed.push_back(t);
    bytes += shape.extents[t].bytes;
  }
  const bool possible = !streamed.empty() && bytes <= kMostStreamedBytes && task.threads == 1 &&
                        cores_by_preference().size() > 1 && granted(bytes + streamed.size() * kPage);
  return possible ? streamed : std::vector<std::size_t>();
}

double usual_time(std::vector<double> step_us) {
  std::ranges::sort(step_us);
  const std::size_t kept = std::max<std::size_t>(1, step_us.size() - (step_us.size() + 7) / 8);
  const auto end = step_us.begin() + static_cast<std::ptrdiff_t>(kept);
  return std::accumulate(step_us.begin(), end, 0.0) / static_cast<double>(kept);
}

OneByOne::OneByOne(const Task& task, const std::vector<InputSet>& bank, Arena& arena, std::size_t shape,
                   std::size_t first, std::span<const std::size_t> sets, SecretStream& random)
    : task_(task),
      bank_(bank),
      arena_(arena),
      shape_(shape),
      first_(first),
      sets_(sets),
      random_(random),
      streamed_(arena.streamed(shape)),
      order_(sets.size()) {
  for (std::size_t t = 0; t < task.tensors.size(); ++t)
    if (task.tensors[t].role != TensorRole::in) outputs_.push_back(t);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
}

std::size_t OneByOne::room() const {
  std::size_t bytes = 0;
  for (const std::size_t t : streamed_) bytes += arena_.tensor_bytes(shape_, t) + kPage;
  return bytes;
}

std::span<const iovec> OneByOne::show(std::size_t call) {
  const std::size_t row = order_[call], slot = first_ + row;
  const InputSet& set = bank_[sets_[row]];
  arena_.set_step(shape_, slot);
  inputs_.clear();
  // The system reads them.
  for (const std::size_t t : streamed_)
    inputs_.push_back({const_cast<std::byte*>(set.inputs[t].data()), set.inputs[t].size()});
  for (std::size_t i = 0; i < kOutputLines; ++i) {
    const std::size_t t = outputs_[random_.below(outputs_.size())];
    written_.push_back(draw_line(t, arena_.tensor(shape_, slot, t), arena_.tensor_bytes(shape_, t)));
  }
  shown_.clear();
  for (std::size_t i = 0; i < kInputLines; ++i) {
    const std::size_t t = streamed_[random_.below(streamed_.size())];
    if (task_.tensors[t].role != TensorRole::in) continue;
    Line line = draw_line(t, arena_.streamed(shape_, slot, t), set.inputs[t].size());
    std::memcpy(line.held.data(), set.inputs[t].data() + (line.at - arena_.streamed(shape_, slot, t)),
                line.bytes);
    shown_.push_back(line);
  }
  return inputs_;
}

OneByOne::Line OneByOne::draw_line(std::size_t tensor, const std::byte* begin, std::size_t bytes) {
  const std::size_t size = std::tuple_size_v<decltype(Line::held)>;
  const std::size_t offset = random_.below((bytes + size - 1) / size) * size;
  return {tensor, begin + offset, std::min(size, bytes - offset)};
}

void OneByOne::look() {
  for (; looked_at_ < written_.size(); ++looked_at_) {
    Line& line = written_[looked_at_];
    std::memcpy(line.held.data(), line.at, line.bytes);
  }
  for (const Line& line : shown_)
    if (std::memcmp(line.held.data(), line.at, line.bytes) != 0) modified_ = line.tensor + 1;
}

Judged<void> OneByOne::verdict(const TaskShape& shape) const {
  if (modified_ > 0) return modified(shape, task_.tensors[modified_ - 1]);
  for (const Line& line : written_)
    if (std::memcmp(line.held.data(), line.at, line.bytes) != 0)
      return written_later(shape, task_.tensors[line.tensor]);
  return {};
}

}  // namespace kernelsmith
