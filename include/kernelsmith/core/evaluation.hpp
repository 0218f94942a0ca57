// Evaluation: what an evaluator found out about one candidate. A bad kernel is data (a Rejection), never an
// Error.
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

/// The stages of an evaluation, in order: a rejection at a later stage is the better program.
enum class Stage { parse, static_check, compile, plan, run, correctness, integrity, timing };

std::string_view name_of(Stage stage);
std::optional<Stage> stage_from(std::string_view name);

/// Which rule a rejected candidate broke. Every code has a line in docs/errors.md.
enum class RejectionCode {
  unreadable,           ///< parse: no source, markers that do not pair, a knob outside its list
  frozen_changed,       ///< parse: bytes outside the EVOLVE-BLOCKs differ from the seed's
  too_large,            ///< parse: more bytes than the task allows
  forbidden_construct,  ///< static_check: a construct that the backend does not take
  compile_failed,       ///< compile: the compiler reported errors
  compile_limit,        ///< compile: time, memory or output size ran out
  entry_missing,        ///< compile: the entry symbol is not defined
  load_failed,          ///< run: the binary could not be loaded
  plan_failed,          ///< plan: host code failed or asked for what cannot be planned
  crashed,              ///< run: ended by a signal
  exited,               ///< run: ended by itself before the answer
  timed_out,            ///< run: past its deadline
  out_of_memory,        ///< run: past its memory limit
  command_failed,       ///< run: the task's own command ended with an error
  raised,               ///< run: the evaluator's own function raised an exception
  worker_lost,          ///< run: several workers of a fleet were lost while they evaluated it
  bad_metrics,          ///< run: the command's answer is no JSON object of finite numbers
  wrong_output,         ///< correctness: an output differs from the reference by more than the budget
  output_not_written,   ///< correctness: poison is left in an output
  not_finite,         ///< correctness: NaN or infinity where the reference is finite, or the other way round
  nondeterministic,   ///< correctness: the same inputs gave different outputs, and the task does not allow it
  input_modified,     ///< integrity: an input was written
  out_of_bounds,      ///< integrity: memory beside an output was written
  background_work,    ///< integrity: CPU time advanced while the candidate was frozen
  protocol_forged,    ///< integrity: a reply that the runner cannot have written, or wrote too soon
  sandbox_violation,  ///< integrity: a denied system call or a forbidden resource
  implausible_speed,  ///< integrity: faster than the hardware can move the compulsory bytes
  not_reproducible,   ///< integrity: compiled again, it is another binary
  unsafe_memory,  ///< integrity: compute-sanitizer found a bad access, a race or a read of what nothing wrote
  too_slow,       ///< timing: beyond the limit of an evaluation, or hopelessly behind the yardstick
};

std::string_view name_of(RejectionCode code);
std::optional<RejectionCode> rejection_code_from(std::string_view name);

/// One shape (a set of sizes) of the task.
struct ShapeResult {
  std::string shape;                      ///< such as "rows=17 cols=1023"
  bool timed = false;                     ///< false: checked for correctness only
  std::optional<bool> correct;            ///< absent if a rejection came before this shape was reached
  double error = 0;                       ///< worst error as a fraction of the budget; above 1 is a failure
  std::optional<Measurement> runtime_us;  ///< of one call
  std::optional<Measurement> speedup;     ///< over the baseline
  /// The yardstick's call takes less than 20 us: the interval is wider, and work on several calls at once may
  /// gain.
  bool short_call = false;
  /// Its share of the score if the task gives its timed shapes weights; else empty.
  std::optional<double> weight = {};

  friend bool operator==(const ShapeResult&, const ShapeResult&) = default;
};

/// A log or file that an evaluation left, cut to its last bytes: a compiler's error stands at the end.
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
  /// The yardstick's time over the candidate's, geometric mean over the timed shapes: what the backend
  /// measured of the candidate itself. The speedup is this times a factor that is the same for all candidates
  /// of a run.
  std::optional<Measurement> over_yardstick;
  std::optional<Measurement>
      duel;  ///< challenger over incumbent, above 1 is faster; only if a rival was named
  /// In place of `duel` if the incumbent itself broke a rule, in words: it has lost.
  std::optional<std::string> incumbent_failed;
  /// What was measured, by its exact bytes, if building the source again must give the same.
  std::optional<Digest> binary = {};
  std::string tier;       ///< how far the number can be trusted: "full", "weak", "unsandboxed", "unverified"
  std::string hardware;   ///< processor or device
  std::string toolchain;  ///< compiler and flags
  std::string advice;     ///< what bounds the candidate, in sentences for the next attempt; often empty
  std::map<std::string, double> spent_ms;  ///< where the evaluation's time went, by step
  std::vector<Artifact> artifacts;         ///< kept in the store, not in memory: see without_artifacts()

  friend bool operator==(const Report&, const Report&) = default;
};

/// The candidate did what the reference does, and was timed.
struct Acceptance {
  Metrics metrics;
  Report report;

  friend bool operator==(const Acceptance&, const Acceptance&) = default;
};

/// The candidate broke a rule. `diagnostics` helps the next attempt and never shows a value of the inputs.
struct Rejection {
  Stage stage = Stage::parse;
  RejectionCode code = RejectionCode::unreadable;
  std::string diagnostics;
  Report report;

  friend bool operator==(const Rejection&, const Rejection&) = default;
};

class Evaluation;

/// What two evaluations of one program, both accepted, say together: the later one, with the fitness and the
/// speeds of both pooled. The shapes' rows stay the later one's.
Evaluation pooled(const Evaluation& before, const Evaluation& now);

/// An evaluator's answer. Immutable; safe to share between threads.
class Evaluation {
 public:
  Evaluation(Acceptance acceptance) : outcome_(std::move(acceptance)) {}  // NOLINT(*-explicit-*)
  Evaluation(Rejection rejection) : outcome_(std::move(rejection)) {}     // NOLINT(*-explicit-*)

  bool accepted() const { return std::holds_alternative<Acceptance>(outcome_); }

  /// Null if the candidate was rejected.
  const Metrics* metrics() const;
  /// Null if the candidate was accepted.
  const Rejection* rejection() const { return std::get_if<Rejection>(&outcome_); }
  const Report& report() const;
  const std::variant<Acceptance, Rejection>& outcome() const { return outcome_; }

  /// The same evaluation without its report's artifacts, for keeping in memory.
  Evaluation without_artifacts() const;

  friend bool operator==(const Evaluation&, const Evaluation&) = default;

 private:
  std::variant<Acceptance, Rejection> outcome_;
};

}  // namespace kernelsmith
