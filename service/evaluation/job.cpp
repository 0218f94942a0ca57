#include "job.hpp"

namespace kernelsmith::service {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

Json response_of(const Job& job) {
  const Verdict& verdict = job.verdict;
  Json metadata = verdict.metadata;
  if (!job.request.ignored.empty()) metadata["ignored"] = job.request.ignored;
  Json response = {{"task_id", job.request.task_id},
                   {"status", name_of(job.state)},
                   {"compiled", or_null(verdict.compiled)},
                   {"correctness", or_null(verdict.correctness)},
                   {"decoy_kernel", or_null(verdict.decoy_kernel)},
                   {"reference_runtime", or_null(verdict.reference_runtime_ms)},
                   {"kernel_runtime", or_null(verdict.kernel_runtime_ms)},
                   {"speedup", or_null(verdict.speedup)},
                   {"metadata", std::move(metadata)},
                   {"error_message", or_null(verdict.error_message)},
                   {"error_code", or_null(verdict.error_code)},
                   {"submitted_at", http::iso_time(job.submitted_at)},
                   {"completed_at", nullptr},
                   {"processing_time", nullptr}};
  if (is_final(job.state)) {
    response["completed_at"] = http::iso_time(job.completed_at);
    const bool was_started = job.started != Job::Clock::time_point{};
    response["processing_time"] =
        was_started ? std::chrono::duration<double>(job.finished - job.started).count() : 0.0;
  }
  return response;
}

Json status_of(const Job& job, std::optional<std::size_t> queue_position) {
  return {{"task_id", job.request.task_id},
          {"status", name_of(job.state)},
          {"progress", nullptr},
          {"estimated_completion", nullptr},
          {"queue_position", or_null(queue_position)},
          {"assigned_device", nullptr},
          {"error_message", or_null(job.verdict.error_message)},
          {"error_code", or_null(job.verdict.error_code)}};
}

}  // namespace kernelsmith::service
