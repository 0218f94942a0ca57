// The seams between the judge and a backend: a KernelHost is a device, a KernelSession a kernel loaded there.
// The judge trusts a session's times and comparisons; a session trusts nothing from its kernel.
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

/// Calls that are made one after the other without a pause. All their inputs exist when the first begins, so
/// a kernel could work on several at once. The judge must limit the gain of that.
struct Batch {
  std::size_t shape = 0;
  std::vector<const InputSet*> calls;  ///< never empty; they outlive the batch's compare()
  double timeout_s = 10;               ///< limit of all calls together, without loading and laying out
};

/// The result of comparing a batch's outputs.
struct Findings {
  /// The first wrong output.
  struct Wrong {
    std::size_t call = 0;
    std::size_t tensor = 0;
    bool beside = false;  ///< memory next to the output was written; then the rest is unused
    CompareResult result;
    double actual = 0;  ///< the actual value of the element `result.worst_at`
    /// Its expected value, from a host whose sets have no outputs.
    struct Due {
      double expected = 0, allowed_error = 0;
    };
    std::optional<Due> due = std::nullopt;
  };
  std::optional<Wrong> wrong;
  double error = 0;                                  ///< the worst error of all outputs / its budget
  std::optional<Error> broken = std::nullopt;        ///< the device failed: the outputs are unknown
  std::optional<Rejection> rejected = std::nullopt;  ///< the outputs cannot be compared
};

/// How a kernel is treated.
enum class Trust {
  candidate,  ///< outputs are poisoned and compared, memory is wiped before it is loaded
  trusted,    ///< a yardstick or baseline that passed as a candidate: compare() need not be called
};

/// A loaded kernel. It is stopped except in run(). Not thread-safe; used by one thread at a time.
class KernelSession {
 public:
  virtual ~KernelSession() = default;

  /// Lays the inputs out, poisons the outputs, makes the calls and stops the kernel. Returns the time of the
  /// whole batch in microseconds, minus the time of an empty batch. A Rejection is the kernel's fault (crash,
  /// time limit, a broken rule), an Error the machine's. After either the session is unusable.
  virtual Judged<double> run(const Batch& batch) = 0;

  /// Compares the outputs that the last batch had when it ended.
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

/// Relative half widths of variation between runs: no interval is narrower.
struct Floors {
  double like_with_like = 0.015;   ///< of ratios of similar kernels: candidate and yardstick
  double short_call = 0.05;        ///< the same if a call of the yardstick takes less than `short_us`
  double short_us = 20;            ///< a shorter call is dominated by cold misses
  double against_baseline = 0.06;  ///< of the baseline's ratio, which other resources limit
  double times = 0.1;              ///< of absolute times, which change with the machine's state
};

/// Properties of a device.
struct HostTraits {
  std::string tier;           ///< Report::tier
  std::string hardware;       ///< Report::hardware
  double batch_noise_us = 0;  ///< scatter of a batch's time, independent of its calls: the cost of stopping
  std::size_t places = 1;  ///< separate memories to load kernels into; at least as many as are open at once
  /// The duration of a batch. On a CPU every call of 20 us or more is timed alone: single calls limit the
  /// gain of a batch only if the yardstick is not much slower.
  double batch_us = 40;
  /// True if no call can do work for a later one of its batch or find data of an earlier batch. Then single
  /// calls need not limit batches, and sets of inputs may be reused. The number of calls in a batch is
  /// secret, so that no work can be left to the last call.
  bool isolated_calls = false;
  Floors floors = {};
  /// A call may take this many times the yardstick's time, or the task's `timeout_s` if that is longer:
  /// kOverYardstick (call_limit.hpp), or 0 if only `timeout_s` counts.
  double over_yardstick = 0;
};

/// A device with the task's memory on it. Not thread-safe.
class KernelHost {
 public:
  virtual ~KernelHost() = default;

  virtual HostTraits traits() const = 0;

  /// The most calls of a batch at a shape.
  virtual std::size_t capacity(std::size_t shape) const = 0;

  /// Loads a binary of this backend into memory `place`, which no other open session uses. Nothing of an
  /// earlier session of the place is left. A stop request ends the session's current work with `cancelled`.
  virtual Judged<std::unique_ptr<KernelSession>> open(const BinaryPtr& binary, Trust trust, std::size_t place,
                                                      const std::stop_token& stop) = 0;

  /// Sets the time limit of calls that open() makes to load a binary. A batch has its own limit.
  virtual void limit_calls(double /*call_s*/) {}

  /// Waits until all closed sessions have ended, and starts nothing in the background until the next
  /// evaluation. Called before anything is timed.
  virtual void rest() {}

  /// The shortest possible time of a call at a timed shape to move its compulsory bytes, in microseconds,
  /// with a safety margin; measured at most once for each shape. `set` is one of that shape. 0: unknown.
  virtual Result<double> least_us(std::size_t shape, const InputSet& set) = 0;
};

}  // namespace kernelsmith
