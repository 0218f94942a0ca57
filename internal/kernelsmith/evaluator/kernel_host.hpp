// The seams between the judge and a backend: a KernelHost is a device, a KernelSession a kernel loaded there.
// The judge believes what a session says of time and outputs; a session believes nothing that its kernel
// says.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/evaluator/backend.hpp>
#include <kernelsmith/evaluator/expected.hpp>
#include <kernelsmith/evaluator/input_set.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

namespace kernelsmith {

/// Calls that are made one after the other without a pause. Their inputs are all there when the first begins,
/// so a kernel can work on several at once: what that gains is the judge's to bound.
struct Batch {
  std::size_t shape = 0;
  std::vector<const InputSet*> calls;  ///< never empty; they outlive the batch's compare()
  double timeout_s = 10;               ///< of the calls together: loading and laying out do not count
};

/// What the comparison of a batch's outputs found.
struct Findings {
  /// The first output that is not as it must be.
  struct Wrong {
    std::size_t call = 0;
    std::size_t tensor = 0;
    bool beside = false;  ///< memory beside the output was written; the rest is unused then
    CompareResult result;
    double actual = 0;  ///< the element `result.worst_at` as it was written
    /// What it had to be, from a host whose sets hold no outputs.
    struct Due {
      double expected = 0, allowed_error = 0;
    };
    std::optional<Due> due = std::nullopt;
  };
  std::optional<Wrong> wrong;
  double error = 0;                                  ///< the worst error of all outputs, over the budget
  std::optional<Error> broken = std::nullopt;        ///< the device failed: nothing is known of the outputs
  std::optional<Rejection> rejected = std::nullopt;  ///< the outputs cannot be compared
};

/// How a kernel is treated.
enum class Trust {
  candidate,  ///< outputs are poisoned and compared, memory is wiped before it is loaded
  trusted,    ///< a yardstick or baseline that passed as a candidate: compare() need not be called
};

/// A loaded kernel. It stands still except in run(). Not thread-safe; used by one thread at a time.
class KernelSession {
 public:
  virtual ~KernelSession() = default;

  /// Lays the inputs out, poisons the outputs, makes the calls and stops the kernel. Gives the time of the
  /// whole batch in microseconds, without what a batch without calls costs. A Rejection is the kernel's fault
  /// (crash, time limit, a broken rule), an Error the machine's; after either the session is of no more use.
  virtual Judged<double> run(const Batch& batch) = 0;

  /// Compares the outputs of the last batch, as they stood when it ended.
  virtual Findings compare() = 0;

  /// The digest of all outputs' bytes of the last batch.
  virtual Digest outputs() = 0;

  /// Adds where its time went to `spent_ms`, by step ("load", "lay out", "calls", "stop and go", "compare"),
  /// since the last call of this.
  virtual void take_costs(std::map<std::string, double>& spent_ms) {
    for (const auto& [step, ms] : std::exchange(spent_ms_, {})) spent_ms[step] += ms;
  }

 protected:
  std::map<std::string, double> spent_ms_;
};

/// Relative half widths that were seen between runs, and not within one: no interval is narrower.
struct Floors {
  double like_with_like = 0.015;   ///< of ratios: candidate and yardstick work alike
  double short_call = 0.05;        ///< the same if a call of the yardstick takes less than `short_us`
  double short_us = 20;            ///< a shorter call is mostly what it finds cold
  double against_baseline = 0.06;  ///< of the baseline's ratio: it is bound by other things
  double times = 0.1;              ///< a time by itself moves with the machine's state
};

/// What a device can do.
struct HostTraits {
  std::string tier;      ///< Report::tier
  std::string hardware;  ///< Report::hardware
  double batch_noise_us =
      0;                   ///< how much one batch's time scatters whatever its calls do: the cost of stopping
  std::size_t places = 1;  ///< separate memories to load kernels into; at least as many as are open at once
  /// A batch is as many calls as take this long. On a CPU every call from 20 us on is timed alone: lone calls
  /// bound what a batch gains only beside a yardstick that is not much slower.
  double batch_us = 40;
  /// No call can work for a later one of its batch, and none finds what an earlier batch left. Batches then
  /// need no bound by lone calls, sets of inputs may come again, and the number of a batch's calls is secret,
  /// so that no call is left to the last one.
  bool isolated_calls = false;
  Floors floors = {};
  /// A call may take so many times what the yardstick's takes, if that is more than the task's `timeout_s`:
  /// kOverYardstick (call_limit.hpp), or 0 if `timeout_s` alone counts.
  double over_yardstick = 0;
};

/// A device with the task's memory on it. Not thread-safe.
class KernelHost {
 public:
  virtual ~KernelHost() = default;

  virtual HostTraits traits() const = 0;

  /// How many calls at a shape a batch can hold.
  virtual std::size_t capacity(std::size_t shape) const = 0;

  /// Loads a binary of this backend into memory `place`, which no other open session has. All that an earlier
  /// session of the place held is gone. A stop request ends what the session is doing with `cancelled`.
  virtual Judged<std::unique_ptr<KernelSession>> open(const BinaryPtr& binary, Trust trust, std::size_t place,
                                                      const std::stop_token& stop) = 0;

  /// How long a call may take, from now on, that open() makes to load a binary. A batch has a limit of its
  /// own.
  virtual void limit_calls(double /*call_s*/) {}

  /// Everything that was closed has ended when this returns; nothing is started in the background until the
  /// next evaluation. Before anything is timed.
  virtual void rest() {}

  /// The least time in which a call at a timed shape can move its compulsory bytes, in microseconds, all
  /// margins taken off; measured at most once for each shape. `set` is one of that shape. 0: no
  /// bound is known.
  virtual Result<double> least_us(std::size_t shape, const InputSet& set) = 0;
};

}  // namespace kernelsmith
