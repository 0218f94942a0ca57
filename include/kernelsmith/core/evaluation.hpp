// Evaluation: an evaluator's verdict on one candidate. A bad kernel is data (a Rejection), never an Error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith {

/// The stages of an evaluation, in order. A program that was rejected at a later stage is better than one
/// that was rejected earlier.
enum class Stage { parse, static_check, compile, plan, run, correctness, integrity, timing };

std::string_view name_of(Stage stage);
std::optional<Stage> stage_from(std::string_view name);

/// Which rule a rejected candidate broke. Every code has a line in docs/errors.md.
enum class RejectionCode {
  unreadable,           ///< parse: no source, markers that do not pair, a knob outside its list
  frozen_changed,       ///< parse: bytes outside the EVOLVE-BLOCKs differ from the seed's
  too_large,            ///< parse: more bytes than the task allows
  forbidden_construct,  ///< static_check: a construct that the backend does not allow
  compile_failed,       ///< compile: the compiler reported errors
  compile_limit,        ///< compile: time, memory or output size ran out
  entry_missing,        ///< compile: the entry symbol is not defined
  load_failed,          ///< run: the binary could not be loaded
  plan_failed,          ///< plan: host code failed or used something that cannot be planned
  crashed,              ///< run: ended by a signal
  exited,               ///< run: exited before it answered
  timed_out,            ///< run: past its deadline
  out_of_memory,        ///< run: past its memory limit
  command_failed,       ///< run: the task's own command ended with an error
  raised,               ///< run: the evaluator's own function raised an exception
  worker_lost,          ///< run: several workers of a fleet were lost while they evaluated it
  bad_metrics,          ///< run: the command's answer is not a JSON object of finite numbers
  wrong_output,         ///< correctness: an output differs from the reference by more than the budget
  output_not_written,   ///< correctness: an output still has the poison that it was filled with
  not_finite,           ///< correctness: NaN or infinity where the reference is finite, or vice versa
  nondeterministic,   ///< correctness: the same inputs gave different outputs, and the task does not allow it
  input_modified,     ///< integrity: the candidate wrote to an input
  out_of_bounds,      ///< integrity: the candidate wrote memory beside an output
  background_work,    ///< integrity: CPU time advanced while the candidate was frozen
  protocol_forged,    ///< integrity: a reply that the runner cannot have written, or that came too early
  sandbox_violation,  ///< integrity: a denied system call or a forbidden resource
  implausible_speed,  ///< integrity: faster than the hardware can move the bytes that it has to move
  not_reproducible,   ///< integrity: compiling it again gave another binary
  unsafe_memory,  ///< integrity: compute-sanitizer found a bad access, a race or a read of unwritten memory
  too_slow,       ///< timing: over the time limit, or hopelessly slower than the yardstick
};

std::string_view name_of(RejectionCode code);
std::optional<RejectionCode> rejection_code_from(std::string_view name);

/// The result for one shape (a set of sizes) of the task.
struct ShapeResult {
  std::string shape;                      ///< such as "rows=17 cols=1023"
  bool timed = false;                     ///< false: checked for correctness only
  std::optional<bool> correct;            ///< absent if the candidate was rejected before this shape ran
  double error = 0;                       ///< worst error as a fraction of the budget; above 1 is a failure
  std::optional<Measurement> runtime_us;  ///< of one call
  std::optional<Measurement> speedup;     ///< over the baseline
  /// The yardstick's call takes less than 20 us. Then the interval is wider, and running several calls at
  /// once may be faster.
  bool short_call = false;
  /// The shape's share of the score; empty if the task does not weight its timed shapes.
  std::optional<double> weight = {};

  friend bool operator==(const ShapeResult&, const ShapeResult&) = default;
};

/// A log or file of an evaluation, cut to its last bytes, because a compiler's errors come last.
struct Artifact {
  std::string name;  ///< such as "compile.log"
  std::string text;

  friend bool operator==(const Artifact&, const Artifact&) = default;
};

/// The structured feedback of an evaluation, accepted or not.
struct Report {
  std::vector<ShapeResult> shapes;
  std::optional<Measurement> speedup;     ///< geometric mean over the timed shapes, by their weights
  std::optional<Measurement> runtime_us;  ///< the same mean
  /// The backend's own measurement: the yardstick's time divided by the candidate's, as a geometric mean over
  /// the timed shapes. The speedup is this number times a factor that is the same for all candidates of a
  /// run.
  std::optional<Measurement> over_yardstick;
  std::optional<Measurement> duel;  ///< the challenger's speed over the incumbent's; set if a rival was named
  /// The rule that the incumbent broke, in words. An incumbent that breaks a rule loses, and `duel` is empty.
  std::optional<std::string> incumbent_failed;
  /// The digest of the measured binary, if building the source again must give the same bytes.
  std::optional<Digest> binary = {};
  std::string tier;       ///< how far the number can be trusted: "full", "weak", "unsandboxed", "unverified"
  std::string hardware;   ///< processor or device
  std::string toolchain;  ///< compiler and flags
  std::string advice;     ///< says what limits the candidate's speed, for the next attempt; often empty
  std::map<std::string, double> spent_ms;  ///< how long each step of the evaluation took
  std::vector<Artifact> artifacts;         ///< kept in the store, not in memory: see without_artifacts()

  friend bool operator==(const Report&, const Report&) = default;
};

/// The candidate did what the reference does, and was timed.
struct Acceptance {
  Metrics metrics;
  Report report;

  friend bool operator==(const Acceptance&, const Acceptance&) = default;
};

/// The candidate broke a rule. `diagnostics` helps the next attempt, and never shows values of inputs.
struct Rejection {
  Stage stage = Stage::parse;
  RejectionCode code = RejectionCode::unreadable;
  std::string diagnostics;
  Report report;

  friend bool operator==(const Rejection&, const Rejection&) = default;
};

class Evaluation;

/// Combines two accepted evaluations of one program: returns the later one, with the pooled fitness and
/// speeds of both. If they timed other shapes, their scores are no measurements of one quantity: returns the
/// one with more shapes.
Evaluation pooled(const Evaluation& before, const Evaluation& now);

/// An evaluator's answer. Immutable; safe to share between threads.
class Evaluation {
 public:
  Evaluation(Acceptance acceptance) : outcome_(std::move(acceptance)) {}  // NOLINT(*-explicit-*)
  Evaluation(Rejection rejection) : outcome_(std::move(rejection)) {}     // NOLINT(*-explicit-*)

  bool accepted() const { return std::holds_alternative<Acceptance>(outcome_); }

  /// Null if the candidate was rejected.
  const Metrics* metrics() const;
  /// Returns null if the candidate was accepted.
  const Rejection* rejection() const { return std::get_if<Rejection>(&outcome_); }
  const Report& report() const;
  const std::variant<Acceptance, Rejection>& outcome() const { return outcome_; }

  /// A copy without the report's artifacts, to be kept in memory.
  Evaluation without_artifacts() const;

  friend bool operator==(const Evaluation&, const Evaluation&) = default;

 private:
  std::variant<Acceptance, Rejection> outcome_;
};

}  // namespace kernelsmith
