// The Oracle seam: what the reference answers. A backend runs it; truth/ derives from it what an output may
// be.
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

/// In which type an oracle computes with reals. Integers are always as declared.
enum class OraclePrecision {
  declared,     ///< the dtypes of the task: the reference as it stands
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
  /// If the caller writes a tensor of role `in` or `inout` before each answer(): elements in the type of
  /// `precision()`.
  virtual std::span<std::byte> input(std::size_t shape, std::size_t tensor) = 0;
  /// Runs the reference once. Outputs are zeroed first. Errors: refused if the reference fails.
  virtual Status answer(std::size_t shape) = 0;
  /// A tensor of role `out` or `inout`, valid until the next answer() or input().
  virtual std::span<const std::byte> output(std::size_t shape, std::size_t tensor) = 0;
};

/// All that makes the sets of a bank; each thread that makes some has its own.
struct Oracles {
  std::unique_ptr<Oracle> declared;           ///< the reference in its own precision; never null
  std::unique_ptr<Oracle> wide;               ///< in truth_precision(); null if that is `declared`
  std::unique_ptr<InputGenerator> generator;  ///< null if the task has none
};

/// Called from one thread at a time. On a stop request what it makes ends its work with `cancelled`.
using OracleFactory = std::function<Result<Oracles>(const std::stop_token&)>;

/// Makes the PrecisionCheck of every timed shape, on sets that are the same every time; empty if outputs are
/// compared bit for bit. Takes about a second. Errors: those of the oracles.
Result<std::vector<PrecisionCheck>> check_precision(const Task& task, const OracleFactory& oracles);

}  // namespace kernelsmith
