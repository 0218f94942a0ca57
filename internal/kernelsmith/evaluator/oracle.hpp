// The Oracle seam: runs the reference. Backends implement it; truth/ derives the tolerances of outputs from
// its answers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/inputs.hpp>
#include <kernelsmith/evaluator/precision.hpp>

namespace kernelsmith {

/// The type of an oracle's reals. Integers always have their declared type.
enum class OraclePrecision {
  declared,     ///< the dtypes of the task: the unchanged reference
  f64,          ///< double in place of every real
  long_double,  ///< long double in place of every real
};

/// The precision of the truth: `declared` if outputs are compared bit for bit, `long_double` if a
/// tensor is f64, else `f64`.
OraclePrecision truth_precision(const Task& task);

/// Answers one call at a time, in memory of its own. Not thread-safe.
class Oracle {
 public:
  virtual ~Oracle() = default;
  virtual OraclePrecision precision() const = 0;
  /// The buffer of a tensor of role `in` or `inout`, which the caller fills before each answer(), with
  /// elements in the type of `precision()`.
  virtual std::span<std::byte> input(std::size_t shape, std::size_t tensor) = 0;
  /// Runs the reference once. Outputs are zeroed first. Errors: refused if the reference fails.
  virtual Status answer(std::size_t shape) = 0;
  /// A tensor of role `out` or `inout`, valid until the next answer() or input().
  virtual std::span<const std::byte> output(std::size_t shape, std::size_t tensor) = 0;
  /// The processor or device time of all answers so far that was not this thread's.
  virtual double elsewhere_us() const { return 0; }
};

/// The oracles that make the sets of a bank. Each thread has its own.
struct Oracles {
  std::unique_ptr<Oracle> declared;           ///< the reference in its own precision; never null
  std::unique_ptr<Oracle> wide;               ///< in truth_precision(); null if that is `declared`
  std::unique_ptr<InputGenerator> generator;  ///< null if the task has none
};

/// Makes oracles. Called from one thread at a time. A stop request ends the oracles' work with `cancelled`.
using OracleFactory = std::function<Result<Oracles>(const std::stop_token&)>;

/// Makes the PrecisionCheck of every timed shape, on sets that are the same every time; empty if outputs are
/// compared bit for bit. Takes about a second. Errors: those of the oracles.
Result<std::vector<PrecisionCheck>> check_precision(const Task& task, const OracleFactory& oracles);

}  // namespace kernelsmith
