// The seams between the judge and a backend. A KernelHost is a device; a KernelSession is a kernel that is
// loaded there. The judge trusts a session's times and comparisons; a session trusts nothing from its kernel.
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

/// Calls that are made one after the other without a pause. The inputs of all calls exist when the first call
/// begins, so a kernel could work on several calls at once. The judge must limit what it gains by that.
struct Batch {
  std::size_t shape = 0;
  std::vector<const InputSet*> calls;  ///< never empty; they outlive the batch's compare()
  double timeout_s = 10;               ///< limit for all calls together, without loading the kernel and
                                       ///< laying out inputs
};

/// The result of comparing a batch's outputs.
struct Findings {
  /// The first wrong output.
  struct Wrong {
    std::size_t call = 0;
    std::size_t tensor = 0;
    bool beside = false;  ///< memory next to the output was written, and the other members are unused
    CompareResult result;
    double actual = 0;  ///< the actual value of the element `result.worst_at`
    /// The expected value of that element. Set by a host whose sets have no outputs.
    struct Due {
      double expected = 0, allowed_error = 0;
    };
    std::optional<Due> due = std::nullopt;
  };
  std::optional<Wrong> wrong;
  double error = 0;                                  ///< the largest error / budget of all outputs
  std::optional<Error> broken = std::nullopt;        ///< the device failed: the outputs are unknown
  std::optional<Rejection> rejected = std::nullopt;  ///< the outputs cannot be compared
};

/// How a kernel is treated.
enum class Trust {
  candidate,  ///< outputs are poisoned and compared, memory is wiped before it is loaded
  trusted,    ///< a yardstick or baseline that has passed as a candidate: compare() need not be called
};

/// A loaded kernel. It is stopped except during run(). Not thread-safe.
class KernelSession {
 public:
  virtual ~KernelSession() = default;

  /// Lays out the inputs, poisons the outputs, makes the calls and stops the kernel. Returns the time of the
  /// whole batch in microseconds, minus the time of an empty batch. A Rejection is the kernel's fault (a
  /// crash, the time limit, a broken rule); an Error is the machine's. After either, the session is unusable.
  virtual Judged<double> run(const Batch& batch) = 0;

  /// Compares the outputs of the last batch as they were at its end.
  virtual Findings compare() = 0;

  /// The digest of all outputs' bytes of the last batch.
  virtual Digest outputs() = 0;

  /// Adds the time that was spent since the last call of this function to `spent_ms`, by step ("load", "lay
  /// out", "calls", "stop and go", "compare").
  virtual void take_costs(std::map<std::string, double>& spent_ms) {
    for (const auto& [step, ms] : std::exchange(spent_ms_, {})) spent_ms[step] += ms;
  }

 protected:
  std::map<std::string, double> spent_ms_;
};

/// The variation between runs, as relative half widths. No interval is made narrower than that.
struct Floors {
  double like_with_like = 0.015;   ///< for ratios of similar kernels: candidate and yardstick
  double short_call = 0.05;        ///< the same, if a call of the yardstick takes less than `short_us`
  double short_us = 20;            ///< a shorter call is dominated by cold misses
  double against_baseline = 0.06;  ///< for the baseline's ratio, because other resources limit the baseline
  double times = 0.1;              ///< for absolute times, which change with the machine's state
};

/// Properties of a device.
struct HostTraits {
  std::string tier;           ///< Report::tier
  std::string hardware;       ///< Report::hardware
  double batch_noise_us = 0;  ///< scatter of a batch's time that does not depend on its calls: the cost of
                              ///< stopping
  std::size_t places = 1;  ///< number of separate memories for loading kernels; at least as many as sessions
                           ///< open at once
  /// The intended duration of a batch. On a CPU every call of 20 us or more is timed alone, because single
  /// calls limit the gain of a batch only if the yardstick is not much slower.
  double batch_us = 40;
  /// True if no call can do work for a later one of its batch or find data of an earlier batch. Then the
  /// judge need not check batches with single calls, and sets of inputs may be reused. The number of calls in
  /// a batch is secret, so that no work can be left to the last call.
  bool isolated_calls = false;
  Floors floors = {};
  /// A call may take this many times the yardstick's time, or the task's `timeout_s` if that is longer:
  /// kOverYardstick (call_limit.hpp), or 0 if only `timeout_s` counts.
  double over_yardstick = 0;
  /// The programs of a kernel, each of which is loaded by itself: one for each workload, if shapes have their
  /// own.
  std::size_t programs = 1;
};

/// A device with the task's memory on it. Not thread-safe.
class KernelHost {
 public:
  virtual ~KernelHost() = default;

  virtual HostTraits traits() const = 0;

  /// The largest number of calls in a batch at this shape.
  virtual std::size_t capacity(std::size_t shape) const = 0;

  /// Loads a binary of this backend into memory `place`, which no other open session uses. Nothing is left
  /// there from an earlier session. A stop request ends the session's current work with `cancelled`.
  virtual Judged<std::unique_ptr<KernelSession>> open(const BinaryPtr& binary, Trust trust, std::size_t place,
                                                      const std::stop_token& stop) = 0;

  /// Sets the time limit of calls that open() makes to load a binary. A batch has its own limit.
  virtual void limit_calls(double /*call_s*/) {}

  /// Waits until all closed sessions have ended, and starts nothing in the background until the next
  /// evaluation. Called before anything is timed.
  virtual void rest() {}

  /// The shortest possible time, in microseconds, in which a call at a timed shape can move the bytes that it
  /// has to move, with a safety margin. 0 means unknown. It is measured at most once for each shape. `set` is
  /// a set of that shape.
  virtual Result<double> least_us(std::size_t shape, const InputSet& set) = 0;
};

}  // namespace kernelsmith
