// An Evaluator made of a Backend: stages as queues with limits.
#pragma once

#include <cstddef>
#include <memory>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend.hpp>

namespace kernelsmith {

/// How many jobs are worked on at a time, and what is kept between them.
struct EvaluatorOptions {
  std::size_t compile_slots = 1;  ///< compilations at a time
  std::size_t run_slots = 1;      ///< runs at a time: the devices, each with one run
  bool compile_while_running = false;
  std::size_t max_source_bytes = std::size_t{256} * 1024;
  std::size_t cached_binaries = 256;     ///< by exact source bytes; the least recently used goes first
  std::size_t shared_verdicts = 10'000;  ///< by exact bytes of the binary; likewise

  /// For this machine: one core compiles for each that is not timing; with fewer than four cores nothing
  /// compiles while something is timed.
  static EvaluatorOptions for_this_machine();
  /// The same for backends that time on devices: what the processor compiles meanwhile does not disturb them.
  static EvaluatorOptions for_devices(int count);
  /// For backends that run candidates as they stand; 0: as many at a time as there are processors.
  static EvaluatorOptions for_programs(std::size_t runs_at_a_time);
};

/// Parses, compiles (or finds in the cache) and runs each job on the backend. A job whose source has no file,
/// breaks the seed's frozen bytes, holds a broken knob or is larger than the limit is rejected at `parse`; a
/// job for another task's digest is `invalid_argument`. A rival that does not compile any more has lost
/// (`Report::incumbent_failed`). A candidate that is confirmed is compiled once more: other bytes are the
/// rejection `not_reproducible`.
///
/// A child of a search that was compiled to the exact bytes (Report::binary) of another source of its run is
/// not run: it shares that one's verdict. Only an acceptance is shared, or a rejection for what was computed;
/// whether something crashed or was too slow may be the machine's fault. A confirmation draws other inputs,
/// and no verdict outlives it.
std::shared_ptr<Evaluator> make_staged_evaluator(std::shared_ptr<const Task> task,
                                                 std::shared_ptr<Backend> backend, EvaluatorOptions options);

}  // namespace kernelsmith
