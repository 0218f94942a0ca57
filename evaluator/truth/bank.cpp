#include "truth/bank.hpp"

#include <algorithm>
#include <future>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include <time.h>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/evaluator/dtypes.hpp>
#include <kernelsmith/evaluator/stopwatch.hpp>

#include "truth/truth.hpp"

namespace kernelsmith::truth {
namespace {

/// Sets of a shape that is only checked: one set of a small shape (a row or one element) is not enough.
constexpr std::size_t kLeastCheckSets = 2, kMostCheckSets = 16, kCheckBytes = 256 << 10;
/// One set in this many has the declared special values; of two check sets, one has them. Special values
/// would allow a kernel to skip work (next to a large term all others are lost), so most timed sets have
/// none.
constexpr std::size_t kSpecialInTimed = 4, kSpecialInCheck = 2;
/// The limit of wall time, in units of that of processor time: for references that sleep.
constexpr double kMostWaiting = 20;

/// Bytes of inputs, expected values, and weights.
std::size_t bytes_of_set(const Task& task, const TaskShape& shape) {
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    const TensorSpec& tensor = task.tensors[t];
    const TensorExtent& extent = shape.extents[t];
    if (tensor.role != TensorRole::out) bytes += extent.bytes;
    if (tensor.role == TensorRole::in) continue;
    bytes += extent.bytes;
    if (!has_budget(tensor)) bytes += extent.elements;
    if (has_budget(tensor) && task.tolerance.policy != "exact")
      bytes += extent.elements * (tensor.dtype == Dtype::f64 ? sizeof(double) : sizeof(float));
  }
  return std::max<std::size_t>(bytes, 1);
}

/// The processor and device time that this thread and its oracles have used.
double used_us(const Truth& truth) {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3 +
         truth.elsewhere_us();
}

/// Makes sets with several truths in parallel, a thread for each.
class BankMaker {
 public:
  BankMaker(const Task& task, const std::vector<TaskShape>& shapes, const BankLimits& limits,
            std::stop_token stop)
      : task_(task), shapes_(shapes), limits_(limits), stop_(std::move(stop)), made_(shapes.size()) {
    for (const TaskShape& shape : shapes) {
      const std::size_t bytes = bytes_of_set(task, shape);
      wanted_.push_back(shape.timed
                            ? std::clamp(limits.bytes / task.timed.size() / bytes, limits.least, limits.most)
                            : std::clamp(kCheckBytes / bytes, kLeastCheckSets, kMostCheckSets));
      bank_.emplace_back(wanted_.back());
    }
  }

  Result<Bank> make(std::vector<Truth>& truths) {
    truths_ = truths.size();
    std::vector<std::future<Status>> workers;
    for (Truth& truth : truths)
      workers.push_back(std::async(std::launch::async, [this, &truth] { return work(truth); }));
    Status all;
    for (auto& worker : workers)
      if (auto done = worker.get(); !done) all = done;
    if (!all) return all.error();
    const MutexLock lock(mutex_);
    for (std::size_t s = 0; s < shapes_.size(); ++s) bank_[s].resize(made_[s]);
    return std::move(bank_);
  }

 private:
  struct Place {
    std::size_t shape = 0, set = 0;
  };

  /// A limit of wall time alone would leave fewer sets on a busy machine, and wrong kernels could pass there.
  bool is_late() const KERNELSMITH_REQUIRES(mutex_) {
    return spent_us_ > limits_.seconds * 1e6 * static_cast<double>(truths_) ||
           watch_.ms() > kMostWaiting * limits_.seconds * 1e3;
  }

  /// Makes one set of each shape in turn, so that the remaining time is divided evenly.
  std::optional<Place> next(double spent_us) {
    const MutexLock lock(mutex_);
    spent_us_ += spent_us;
    while (at_.set < std::max(limits_.most, kMostCheckSets)) {
      const bool late = is_late();
      if (late && at_.set >= std::max(limits_.least, kLeastCheckSets)) break;
      const Place place = at_;
      at_ = place.shape + 1 < shapes_.size() ? Place{place.shape + 1, place.set} : Place{0, place.set + 1};
      if (place.set >= wanted_[place.shape]) continue;
      if (late && place.set >= (shapes_[place.shape].timed ? limits_.least : kLeastCheckSets)) continue;
      made_[place.shape] = place.set + 1;
      return place;
    }
    return std::nullopt;
  }

  Status work(Truth& truth) {
    for (double before_us = used_us(truth);;) {
      const double now_us = used_us(truth);
      const auto place = next(now_us - std::exchange(before_us, now_us));
      if (!place) return {};
      if (stop_.stop_requested()) return fail(ErrorCode::cancelled, "stopped on request");
      const std::size_t one_in = shapes_[place->shape].timed ? kSpecialInTimed : kSpecialInCheck;
      auto set = truth.make_set(place->shape,
                                {draw_key(), constants_key_, declares_specials_ && place->set % one_in == 1});
      if (!set) return set.error();
      bank_[place->shape][place->set] = std::move(*set);
    }
  }

  const Task& task_;
  const std::vector<TaskShape>& shapes_;
  const BankLimits limits_;
  const std::stop_token stop_;
  const std::array<std::uint64_t, 2> constants_key_ = draw_key();
  const bool declares_specials_ =
      std::ranges::any_of(task_.tensors, [](const TensorSpec& tensor) { return tensor.specials.any(); });
  std::vector<std::size_t> wanted_;  ///< by shape
  Bank bank_;
  const Stopwatch watch_;
  std::size_t truths_ = 1;
  Mutex mutex_;
  double spent_us_ KERNELSMITH_GUARDED_BY(mutex_) = 0;            ///< by all threads
  Place at_ KERNELSMITH_GUARDED_BY(mutex_);                       ///< the next set to make
  std::vector<std::size_t> made_ KERNELSMITH_GUARDED_BY(mutex_);  ///< sets finished or begun, by shape
};

/// If a truth is not finite, every kernel with a non-finite result passes. At check shapes this can be
/// legitimate: the variance of one element.
Status refuse_what_is_never_finite(const Task& task, const std::vector<TaskShape>& shapes, const Bank& bank) {
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    if (!has_budget(task.tensors[t])) continue;
    const auto judges = [&](const InputSet& set) {
      return set.outputs[t].exact || set.outputs[t].judged > 0;
    };
    for (std::size_t shape = 0; shape < shapes.size(); ++shape)
      if (shapes[shape].timed && std::ranges::none_of(bank[shape], judges))
        return fail(
            ErrorCode::refused,
            "output '" + task.tensors[t].name + "' is not finite with any inputs" +
                (shapes[shape].name.empty() ? "" : " at " + shapes[shape].name) +
                ", so nothing can be judged",
            "files: reference",
            "the reference may need other inputs (`init: positive` or `uniform` for some tensors), or "
            "overflow in its own precision");
  }
  return {};
}

}  // namespace

bool is_unmoved(std::span<const InputSet> sets, std::size_t tensor) {
  constexpr std::uint32_t kPoison = 0x7fa00000U;
  if (sets.size() < 2) return false;
  const Expected& first = sets.front().outputs[tensor];
  const auto is_right = [&](const InputSet& other) {
    return compare_output(first, other.outputs[tensor].values, kPoison).fault == Fault::none;
  };
  return !first.values.empty() && std::ranges::all_of(sets.subspan(1), is_right);
}

Result<Bank> make_bank(const Task& task, const std::vector<TaskShape>& shapes, const OracleFactory& oracles,
                       std::size_t threads, const BankLimits& limits, const std::stop_token& stop) {
  std::vector<Truth> truths;
  auto first = Truth::create(task, shapes, oracles, stop);
  if (!first) return first.error();
  truths.push_back(std::move(*first));
  while (truths.size() < threads) {
    auto other = truths.front().another(oracles, stop);
    if (!other) return other.error();
    truths.push_back(std::move(*other));
  }
  auto bank = BankMaker(task, shapes, limits, stop).make(truths);
  if (!bank) return bank;
  if (auto s = refuse_what_is_never_finite(task, shapes, *bank); !s) return s.error();
  return bank;
}

}  // namespace kernelsmith::truth
