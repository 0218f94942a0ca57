// OneByOne: the calls of one batch, shown one at a time. A kernel cannot work on inputs that are not there.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <sys/uio.h>

#include <kernelsmith/core/task.hpp>

#include "arena.hpp"
#include "bank.hpp"
#include "inputs.hpp"
#include "judged.hpp"
#include "runner_process.hpp"

namespace kernelsmith {

/// Longer calls are not shown so: what else the machine does counts in them.
inline constexpr double kLongestStepUs = 500;
/// Which of a shape's tensors come through the pipe then. None where that is not possible: where all inputs
/// are constant or larger than what a pipe is asked to hold, with several threads, and where no other core is
/// left to show them from.
std::vector<std::size_t> streamed_tensors(const Task& task, const TaskShape& shape);

/// What a call takes as a rule: the mean without the slowest eighth (rounded down), which something else may
/// have held up. Requires some.
double usual_time(std::vector<double> step_us);

/// Not thread-safe.
class OneByOne final : public StepScript {
 public:
  /// Slot `first + i` of the arena is to be shown `sets[i]`, in an order that is not told. The spans must
  /// outlive it.
  OneByOne(const Task& task, const std::vector<InputSet>& bank, Arena& arena, std::size_t shape,
           std::size_t first, std::span<const std::size_t> sets, SecretStream& random);

  std::size_t calls() const override { return order_.size(); }
  Arena& arena() const override { return arena_; }
  std::size_t room() const override;
  std::span<const iovec> show(std::size_t call) override;
  bool untouched() override;
  void look() override;

  /// Whether all outputs are what they were when their calls were said to be done, and no input was written.
  /// When nobody writes any more.
  Judged<void> verdict(const TaskShape& shape) const;

 private:
  /// Bytes of a tensor, as they are to be.
  struct Piece {
    std::size_t tensor = 0;
    const std::byte* at = nullptr;
    std::vector<std::byte> held{};
  };

  static bool holds(const Piece& piece);
  std::span<Piece> pieces_of_shown_call();
  void choose_outputs(std::size_t slot);
  void choose_inputs(const InputSet& set, std::size_t slot);
  std::size_t draw_line(std::size_t bytes);

  const Task& task_;
  const std::vector<InputSet>& bank_;
  Arena& arena_;
  std::size_t shape_, first_;
  std::span<const std::size_t> sets_;
  SecretStream& random_;
  std::vector<std::size_t> streamed_, outputs_;
  std::vector<std::size_t> order_;
  std::vector<iovec> inputs_;  ///< of the call that is shown
  std::vector<Piece>
      written_;  ///< of outputs, call by call: as they were before the first, then after theirs
  std::vector<std::size_t> pieces_of_;  ///< where each call's begin in written_, and where the last one's end
  std::vector<Piece> shown_;            ///< of the inputs of the call that is shown
  std::size_t shown_call_ = 0;
  std::size_t modified_ = 0;  ///< tensors and one more where an input was found to be
};

}  // namespace kernelsmith
