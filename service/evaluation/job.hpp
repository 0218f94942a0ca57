// Job: one request from submission to completion, with its data.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <kernelsmith/core/waiting.hpp>
#include <kernelsmith/service/http_message.hpp>

#include "request.hpp"
#include "task_resolver.hpp"
#include "verdict.hpp"

namespace kernelsmith::service {

enum class State { pending, processing, completed, failed, timeout, cancelled };
inline constexpr std::size_t kStates = 6;

constexpr std::string_view name_of(State state) {
  constexpr std::string_view kNames[kStates] = {"pending", "processing", "completed",
                                                "failed",  "timeout",    "cancelled"};
  return kNames[static_cast<std::size_t>(state)];
}

constexpr bool is_final(State state) { return state != State::pending && state != State::processing; }

/// The current period of a request: it is evaluated, or waits for a worker, its task, or its turn on the
/// device. Earlier periods are in the sums.
struct Stint {
  using Clock = std::chrono::steady_clock;

  bool works = false;
  Clock::time_point since = Clock::now();
  double worked_s = 0, waited_s = 0;

  double so_far_s() const { return std::chrono::duration<double>(Clock::now() - since).count(); }
  void next(bool work) {
    (works ? worked_s : waited_s) += so_far_s();
    works = work;
    since = Clock::now();
  }
  /// The work so far is lost without the request's fault, so all of it counts as waiting.
  void undo() {
    next(false);
    waited_s += std::exchange(worked_s, 0);
  }
  double waiting_s() const { return waited_s + (works ? 0 : so_far_s()); }
};

/// Guarded by its table.
struct Job {
  using Clock = std::chrono::steady_clock;

  std::uint64_t number = 0;   ///< counts the service's jobs from 1
  EvaluationRequest request;  ///< without its codes once it is a job
  Assignment assignment;      ///< empty once it is final
  State state = State::pending;
  std::stop_source stop;
  std::uint32_t attempt = 0;  ///< EvaluationJob::attempt
  std::uint32_t noisy = 0;    ///< attempts at which the machine was too noisy
  /// Attempts at which the machine failed while others of its backend succeeded.
  std::uint32_t own_failures = 0;
  std::uint64_t successes_before = 0;  ///< its backend's successes at its last failure
  Moment not_before{};                 ///< it is not started earlier
  Stint stint;

  std::chrono::system_clock::time_point submitted_at = std::chrono::system_clock::now();
  std::chrono::system_clock::time_point completed_at;
  Clock::time_point submitted = Clock::now(), started, finished;

  std::size_t code_bytes = 0;  ///< bytes of its codes when it was submitted
  Verdict verdict;             ///< without metadata once it is final
  std::string answer;          ///< response_of() as text, once it is final

  /// The time at which its timeout ends if its state does not change.
  Moment times_out() const {
    if (state != State::processing || !stint.works) return Moment::max();
    return moment_after(stint.since, Seconds(request.timeout_s - stint.worked_s));
  }
};

/// KernelGYM's formats: EvaluationResponse, and TaskStatusResponse with an additional error.
Json response_of(const Job& job);
Json status_of(const Job& job, std::optional<std::size_t> queue_position);

}  // namespace kernelsmith::service
