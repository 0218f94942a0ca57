#include "bank.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "inputs.hpp"
#include "truth.hpp"

namespace kernelsmith {
namespace {

/// Sets of a shape that is only checked: a small one, of a row or of one element, says little by one set.
constexpr std::size_t kLeastCheckSets = 2, kMostCheckSets = 16, kCheckBytes = 256 << 10;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

/// Makes sets by several truths at the same time, a thread for each.
class BankMaker {
 public:
  BankMaker(const Task& task, const std::vector<TaskShape>& shapes, const BankLimits& limits)
      : task_(task), shapes_(shapes), limits_(limits), wanted_(shapes.size()) {
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      const std::size_t bytes = std::max<std::size_t>(bytes_of_set(task, shapes[s]), 1);
      wanted_[s] = shapes[s].timed
                       ? std::clamp(limits.bytes / task.timed.size() / bytes, limits.least, limits.most)
                       : std::clamp(kCheckBytes / bytes, kLeastCheckSets, kMostCheckSets);
    }
    for (const std::size_t wanted : wanted_) bank_.emplace_back(wanted);
    made_.resize(shapes.size());
  }

  Result<Bank> make(const std::vector<Truth*>& truths) {
    // The first sets hold the constant tensors of the others.
    SecretStream random;
    for (std::size_t s = 0; s < shapes_.size(); ++s)
      if (auto made = make_set({s, 0}, *truths.front(), random); !made) return made.error();
    at_ = {0, 1};
    std::vector<std::future<Status>> workers;
    for (Truth* const truth : truths)
      workers.push_back(std::async(std::launch::async, [this, truth] { return work(*truth); }));
    Status all;
    for (auto& worker : workers)
      if (auto done = worker.get(); !done) all = done;
    if (!all) return all.error();
    for (std::size_t s = 0; s < shapes_.size(); ++s) bank_[s].resize(made_[s]);
    return std::move(bank_);
  }

 private:
  struct Place {
    std::size_t shape = 0, set = 0;
  };

  /// Round by round, so that the time left is shared out evenly.
  std::optional<Place> next() {
    const std::lock_guard lock(mutex_);
    while (at_.set < limits_.most) {
      const bool late = seconds_since(start_) > limits_.seconds;
      if (at_.set >= limits_.least && late) break;
      const Place place = at_;
      at_ = place.shape + 1 < shapes_.size() ? Place{place.shape + 1, place.set} : Place{0, place.set + 1};
      if (place.set >= wanted_[place.shape]) continue;
      if (late && !shapes_[place.shape].timed && place.set >= kLeastCheckSets) continue;
      made_[place.shape] = place.set + 1;
      return place;
    }
    return std::nullopt;
  }

  Status work(Truth& truth) {
    SecretStream random;
    while (const auto place = next())
      if (auto made = make_set(*place, truth, random); !made) return made;
    return {};
  }

  /// Every other set of a shape that is only checked holds the special values that the task declares, so that
  /// two are one of each. Of the timed ones one in four: what they allow a kernel to leave out (beside a
  /// large term all others are lost) is not what it is timed by.
  Status make_set(Place place, Truth& truth, SecretStream& random) {
    const bool special = declares_specials_ && place.set % (shapes_[place.shape].timed ? 4 : 2) == 1;
    InputSet& set = bank_[place.shape][place.set];
    set.inputs.resize(task_.tensors.size());
    std::vector<Bytes> without_specials(special ? task_.tensors.size() : 0);
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      const TensorSpec& tensor = task_.tensors[t];
      const TensorExtent& extent = shapes_[place.shape].extents[t];
      if (tensor.role == TensorRole::out) continue;
      const bool known = tensor.constant && place.set > 0;
      set.inputs[t] = known ? bank_[place.shape].front().inputs[t] : draw_tensor(tensor, extent, random);
      if (!special) continue;
      without_specials[t] = set.inputs[t];
      if (!known) set.inputs[t] = with_specials(tensor, extent, std::move(set.inputs[t]), random);
    }
    auto outputs = truth.expect(place.shape, set.inputs, without_specials);
    if (!outputs) return outputs.error();
    set.outputs = std::move(*outputs);
    return {};
  }

  const Task& task_;
  const std::vector<TaskShape>& shapes_;
  const BankLimits limits_;
  const bool declares_specials_ =
      std::ranges::any_of(task_.tensors, [](const TensorSpec& tensor) { return tensor.specials.any(); });
  std::vector<std::size_t> wanted_;  ///< by shape
  Bank bank_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;               ///< guards at_ and made_
  Place at_;                       ///< what is made next
  std::vector<std::size_t> made_;  ///< by shape: sets made or in the making
};

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

namespace {

Result<Bank> draw_bank(const Task& task, const std::vector<TaskShape>& shapes, const CpuBinary& oracle,
                       const RunnerSettings& settings, const BankLimits& limits) {
  auto truth = Truth::create(task, shapes, oracle, settings);
  if (!truth) return truth.error();
  BankMaker maker(task, shapes, limits);
  // Cores that are reserved for timing are one runner's at a time.
  if (settings.cores) return maker.make({&*truth});
  auto other = truth->another(oracle, settings);
  if (!other) return other.error();
  return maker.make({&*truth, &*other});
}

/// Where a truth is not finite any kernel is right that is not finite either. At shapes that are only checked
/// that can be as it should: the variance of one element.
Status refuse_what_is_never_finite(const Task& task, const std::vector<TaskShape>& shapes, const Bank& bank) {
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    const TensorSpec& tensor = task.tensors[t];
    if (tensor.role == TensorRole::in || !is_real(tensor.dtype)) continue;
    const auto judges = [&](const InputSet& set) {
      return set.outputs[t].exact || set.outputs[t].judged > 0;
    };
    for (std::size_t shape = 0; shape < shapes.size(); ++shape)
      if (shapes[shape].timed && std::ranges::none_of(bank[shape], judges))
        return fail(ErrorCode::refused,
                    "output '" + tensor.name + "' is not finite with any inputs, so nothing can be judged",
                    "files: reference",
                    "the reference may need other inputs: `init: positive` or `uniform` for some tensors");
  }
  return {};
}

}  // namespace

Result<Bank> make_bank(const Task& task, const std::vector<TaskShape>& shapes, const CpuBinary& oracle,
                       const RunnerSettings& settings, const BankLimits& limits) {
  auto bank = draw_bank(task, shapes, oracle, settings, limits);
  if (!bank) return bank;
  if (auto s = refuse_what_is_never_finite(task, shapes, *bank); !s) return s.error();
  return bank;
}

}  // namespace kernelsmith
