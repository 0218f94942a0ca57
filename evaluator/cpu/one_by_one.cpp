#include "one_by_one.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "call_faults.hpp"
#include "cores.hpp"
#include "step_stream.hpp"

namespace kernelsmith {
namespace {

constexpr std::size_t kLine = 64;
/// Of the outputs and of the inputs of each call. Who does much before or after it is found out by these, ...
constexpr std::size_t kOutputLines = 8, kInputLines = 4;
/// ... and who does little, in the calls whose outputs are copied in full: all that are no larger than
/// this, one in so many of the others.
constexpr std::size_t kSmallOutput = 4096, kOneInFull = 8;
/// Of the inputs of one call. Calls on more are seldom so short that several make a batch.
constexpr std::size_t kMostStreamedBytes = std::size_t{512} << 10;
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
  for (const TensorRole role : {TensorRole::in, TensorRole::inout})
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      if (task.tensors[t].role != role || task.tensors[t].constant) continue;
      streamed.push_back(t);
      bytes += shape.extents[t].bytes;
    }
  const bool possible = !streamed.empty() && bytes <= kMostStreamedBytes && task.threads == 1 &&
                        cores_by_preference().size() > 1 && granted(bytes + streamed.size() * kPage);
  return possible ? streamed : std::vector<std::size_t>();
}

double usual_time(std::vector<double> step_us) {
  std::ranges::sort(step_us);
  const std::size_t kept = step_us.size() - step_us.size() / 8;
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
  // Before the first call, which could write to the outputs of all.
  for (const std::size_t row : order_) {
    pieces_of_.push_back(written_.size());
    choose_outputs(first_ + row);
  }
  pieces_of_.push_back(written_.size());
}

bool OneByOne::holds(const Piece& piece) {
  return std::equal(piece.held.begin(), piece.held.end(), piece.at);
}

std::size_t OneByOne::room() const {
  std::size_t bytes = 0;
  for (const std::size_t t : streamed_) bytes += arena_.tensor_bytes(shape_, t) + kPage;
  return bytes;
}

std::span<const iovec> OneByOne::show(std::size_t call) {
  const std::size_t row = order_[call], slot = first_ + row;
  shown_call_ = call;
  const InputSet& set = bank_[sets_[row]];
  arena_.set_step(shape_, slot);
  inputs_.clear();
  static constexpr std::array<std::byte, kLine> kFill{};
  const auto add = [&](const std::byte* data, std::size_t bytes) {
    // The system reads them.
    if (bytes > 0) inputs_.push_back({const_cast<std::byte*>(data), bytes});
  };
  for (const std::size_t t : streamed_) {
    add(set.inputs[t].data(), set.inputs[t].size());
    add(kFill.data(), arena_.streamed_bytes(shape_, t) - set.inputs[t].size());
  }
  choose_inputs(set, slot);
  return inputs_;
}

void OneByOne::choose_outputs(std::size_t slot) {
  const bool in_full = random_.below(kOneInFull) == 0;
  for (const std::size_t t : outputs_) {
    const std::byte* const begin = arena_.tensor(shape_, slot, t);
    const std::size_t bytes = arena_.tensor_bytes(shape_, t);
    if (!in_full && bytes > kSmallOutput) continue;
    // In two pieces, so that no place is known to be copied late.
    const std::size_t middle = draw_line(bytes);
    written_.push_back({t, begin + middle, {begin + middle, begin + bytes}});
    written_.push_back({t, begin, {begin, begin + middle}});
  }
  for (std::size_t i = 0; i < kOutputLines; ++i) {
    const std::size_t t = outputs_[random_.below(outputs_.size())];
    const std::size_t bytes = arena_.tensor_bytes(shape_, t), offset = draw_line(bytes);
    const std::byte* const begin = arena_.tensor(shape_, slot, t) + offset;
    written_.push_back({t, begin, {begin, begin + std::min(kLine, bytes - offset)}});
  }
}

void OneByOne::choose_inputs(const InputSet& set, std::size_t slot) {
  shown_.clear();
  for (std::size_t i = 0; i < kInputLines; ++i) {
    const std::size_t t = streamed_[random_.below(streamed_.size())];
    if (task_.tensors[t].role != TensorRole::in) continue;
    const auto& bytes = set.inputs[t];
    const std::size_t offset = draw_line(bytes.size());
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kLine, bytes.size() - offset));
    shown_.push_back({t, arena_.streamed(shape_, slot, t) + offset, {from, from + count}});
  }
}

/// Where one of the tensor's lines begins.
std::size_t OneByOne::draw_line(std::size_t bytes) {
  return random_.below((bytes + kLine - 1) / kLine) * kLine;
}

std::span<OneByOne::Piece> OneByOne::pieces_of_shown_call() {
  const std::size_t begin = pieces_of_[shown_call_], end = pieces_of_[shown_call_ + 1];
  return std::span(written_).subspan(begin, end - begin);
}

bool OneByOne::untouched() { return std::ranges::all_of(pieces_of_shown_call(), holds); }

void OneByOne::look() {
  for (Piece& piece : pieces_of_shown_call()) std::copy_n(piece.at, piece.held.size(), piece.held.begin());
  for (const Piece& piece : shown_)
    if (!holds(piece)) modified_ = piece.tensor + 1;
}

Judged<void> OneByOne::verdict(const TaskShape& shape) const {
  if (modified_ > 0) return modified(shape, task_.tensors[modified_ - 1]);
  for (const Piece& piece : written_)
    if (!holds(piece)) return written_later(shape, task_.tensors[piece.tensor]);
  return {};
}

}  // namespace kernelsmith
