// An Evaluator made of a Backend: a queue with a limit for each stage.
#pragma once

#include <cstddef>
#include <memory>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend.hpp>

namespace kernelsmith {

/// Limits on parallel jobs, and sizes of caches.
struct EvaluatorOptions {
  std::size_t compile_slots = 1;  ///< parallel compilations
  std::size_t run_slots = 1;      ///< parallel runs: one for each device
  bool compile_while_running = false;
  std::size_t max_source_bytes = std::size_t{256} * 1024;
  std::size_t cached_binaries = 256;     ///< by exact source bytes; the least recently used goes first
  std::size_t shared_verdicts = 10'000;  ///< by exact bytes of the binary; the least recently used goes first

  /// The default for this machine: every core that is not used for timing compiles. With fewer than four
  /// cores nothing compiles during timing.
  static EvaluatorOptions for_this_machine();
  /// The same for backends that time on devices: what the processor compiles meanwhile does not disturb them.
  static EvaluatorOptions for_devices(int count);
  /// For backends that run candidates as they stand; 0: as many at a time as there are processors.
  static EvaluatorOptions for_programs(std::size_t runs_at_a_time);
};

/// Parses, compiles (or finds in the cache) and runs each job on the backend. A job whose source has no file,
/// breaks the seed's frozen bytes, holds a broken knob or is larger than the limit is rejected at `parse`; a
/// job for another task's digest is `invalid_argument`. A rival that no longer compiles has lost
/// (`Report::incumbent_failed`). A confirmation compiles the candidate again; different bytes are rejected as
/// `not_reproducible`.
///
/// A child of a search that compiles to the same bytes (Report::binary) as another source of its run is not
/// run: it shares that verdict. Only acceptances and rejections for wrong results are shared, because crashes
/// and slowness may be the machine's fault. A confirmation draws new inputs, so it discards shared verdicts.
std::shared_ptr<Evaluator> make_staged_evaluator(std::shared_ptr<const Task> task,
                                                 std::shared_ptr<Backend> backend, EvaluatorOptions options);

}  // namespace kernelsmith
