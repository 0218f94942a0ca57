// Makes an Evaluator from a Backend: each stage gets a queue with a limit.
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
  std::size_t run_slots = 1;      ///< parallel runs, one for each device
  bool compile_while_running = false;
  std::size_t max_source_bytes = std::size_t{256} * 1024;
  std::size_t cached_binaries = 256;     ///< number of binaries in the cache, which finds them by their
                                         ///< sources' exact bytes and drops the least recently used first
  std::size_t shared_verdicts = 10'000;  ///< number of verdicts that are kept by the exact bytes of the
                                         ///< binary; the least recently used is dropped first

  /// The default for this machine: every core that does not time compiles. With fewer than four cores,
  /// nothing compiles during timing.
  static EvaluatorOptions for_this_machine();
  /// The default for backends that time on devices: compiling on the processor meanwhile does not disturb the
  /// times.
  static EvaluatorOptions for_devices(int count);
  /// The options for backends that run candidates without compiling them. If the number is 0, as many run at
  /// a time as there are processors.
  static EvaluatorOptions for_programs(std::size_t runs_at_a_time);
};

/// Parses, compiles (or finds in the cache) and runs each job on the backend. A job is rejected at `parse` if
/// its source has no file, changes bytes that the seed freezes, has an invalid knob, or is larger than the
/// limit. A job with the digest of another task is `invalid_argument`. A rival that no longer compiles has
/// lost (`Report::incumbent_failed`). A confirmation compiles the candidate again; different bytes are
/// rejected as `not_reproducible`.
///
/// A child of a search is not run if it compiles to the same bytes (Report::binary) as another source of its
/// run; it shares that source's verdict. Only acceptances and rejections for wrong results are shared,
/// because crashes and slowness may be the machine's fault. A confirmation draws new inputs, so it discards
/// shared verdicts.
std::shared_ptr<Evaluator> make_staged_evaluator(std::shared_ptr<const Task> task,
                                                 std::shared_ptr<Backend> backend, EvaluatorOptions options);

}  // namespace kernelsmith
