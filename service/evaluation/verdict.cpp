#include "verdict.hpp"

#include <algorithm>
#include <utility>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/core/rejections.hpp>

namespace kernelsmith::service {
namespace {

/// A rejection in KernelGYM's terms.
std::string_view code_of(RejectionCode code) {
  using enum RejectionCode;
  switch (code) {
    case unreadable:
      return "SYNTAX_ERROR";
    case frozen_changed:
    case too_large:
      return "VALIDATION_ERROR";
    case forbidden_construct:
    case compile_failed:
    case compile_limit:
    case not_reproducible:
      return "COMPILATION_ERROR";
    case entry_missing:
      return "INSTANTIATION_ERROR";
    case load_failed:
      return "IMPORT_ERROR";
    case plan_failed:
    case crashed:
    case exited:
    case out_of_memory:
    case command_failed:
    case raised:
    case bad_metrics:
    case out_of_bounds:
    case unsafe_memory:
    case worker_lost:
    case background_work:
    case protocol_forged:
    case sandbox_violation:
    case implausible_speed:
      return "RUNTIME_ERROR";
    case timed_out:
    case too_slow:
      return "TIMEOUT_ERROR";
    case wrong_output:
    case output_not_written:
    case not_finite:
    case nondeterministic:
    case input_modified:
      return "CORRECTNESS_ERROR";
  }
  return "UNKNOWN_ERROR";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Json json_of(const Measurement& value) {
  return {{"median", value.median}, {"low", value.low}, {"high", value.high}, {"samples", value.samples}};
}

/// Such as "(3 / 5)": correct shapes of the compared ones; empty if none was compared.
std::string trials_of(const Report& report) {
  const auto compared =
      std::ranges::count_if(report.shapes, [](const auto& s) { return s.correct.has_value(); });
  const auto correct =
      std::ranges::count_if(report.shapes, [](const auto& s) { return s.correct.value_or(false); });
  if (compared == 0) return {};
  return "(" + std::to_string(correct) + " / " + std::to_string(compared) + ")";
}

/// Data that has no field in KernelGYM.
Json own_metadata(const Evaluation& evaluation) {
  const Report& report = evaluation.report();
  Json own = {{"tier", report.tier}, {"hardware", report.hardware}, {"toolchain", report.toolchain}};
  own["spent_ms"] = report.spent_ms;
  if (report.binary) own["binary"] = report.binary->hex();
  if (report.speedup) own["speedup"] = json_of(*report.speedup);
  if (report.runtime_us) own["runtime_us"] = json_of(*report.runtime_us);
  if (!report.advice.empty()) own["advice"] = report.advice;
  if (const Metrics* metrics = evaluation.metrics()) {
    own["fitness"] = json_of(metrics->fitness());
    own["features"] = metrics->features();
  }
  if (const Rejection* rejection = evaluation.rejection())
    own["rejection"] = {{"stage", name_of(rejection->stage)}, {"code", name_of(rejection->code)}};
  for (const ShapeResult& shape : report.shapes) {
    Json entry = {{"shape", shape.shape}, {"timed", shape.timed}};
    if (shape.weight) entry["weight"] = *shape.weight;
    if (shape.correct) entry["correct"] = *shape.correct;
    if (shape.runtime_us) entry["runtime_us"] = json_of(*shape.runtime_us);
    if (shape.speedup) entry["speedup"] = json_of(*shape.speedup);
    own["shapes"].push_back(std::move(entry));
  }
  return own;
}

/// The share of a call in the candidate's own kernels, for rewards of coverage.
void put_coverage(const Metrics& metrics, const Report& report, Json& metadata) {
  const auto& features = metrics.features();
  const auto own = features.find("own_kernels"), others = features.find("aten_ops"),
             share = features.find("own_share");
  if (own == features.end()) return;
  metadata["num_custom_kernels"] = own->second;
  metadata["num_total_kernels"] = own->second + (others == features.end() ? 0 : others->second);
  if (share == features.end() || !report.runtime_us) return;
  metadata["total_kernel_run_time_in_profiling_us"] = report.runtime_us->median;
  metadata["custom_kernel_cuda_time_in_profiling_us"] = report.runtime_us->median * share->second;
  metadata["custom_kernel_cuda_time_coverage"] = share->second;
}

void put_rejection(const Rejection& rejection, const EvaluationRequest& request, Verdict& verdict) {
  verdict.compiled = had_compiled(rejection.code);
  verdict.decoy_kernel = evades_measurement(rejection.code);
  verdict.error_code = error_code_of(rejection.code);
  verdict.error_message = request.verbose_errors ? rejection.diagnostics : first_line(rejection.diagnostics);
  const std::string name(name_of(rejection.code));
  if (verdict.error_code == "CORRECTNESS_ERROR") {
    verdict.metadata["correctness_issue"] = verdict.error_message;
    verdict.metadata["correctness_issue_name"] = name;
  } else if (*verdict.compiled) {
    verdict.metadata["runtime_error"] = verdict.error_message;
    verdict.metadata["runtime_error_name"] = name;
  } else {
    verdict.metadata["compilation_error"] = verdict.error_message;
    verdict.metadata["compilation_error_name"] = name;
  }
}

void put_acceptance(const Evaluation& evaluation, const EvaluationRequest& request, Verdict& verdict) {
  const Report& report = evaluation.report();
  verdict.compiled = true;
  verdict.decoy_kernel = request.detect_decoys && lacks_own_kernel(evaluation);
  constexpr double kUsInMs = 1000;
  if (report.runtime_us) verdict.kernel_runtime_ms = report.runtime_us->median / kUsInMs;
  // A task without a baseline only has a fitness, which the trainer uses as the reward.
  verdict.speedup = (report.speedup ? *report.speedup : evaluation.metrics()->fitness()).median;
  if (report.runtime_us && report.speedup)
    verdict.reference_runtime_ms = *verdict.kernel_runtime_ms * report.speedup->median;
  put_coverage(*evaluation.metrics(), report, verdict.metadata);
}

}  // namespace

std::string_view error_code_of(RejectionCode code) { return code_of(code); }

std::string_view error_code_of(ErrorCode code) {
  using enum ErrorCode;
  switch (code) {
    case invalid_argument:
    case bad_input:
    case too_long:
    case refused:
      return "VALIDATION_ERROR";
    case disk_full:
    case busy:
    case over_budget:
    case tool_missing:
    case unsupported:
    case unstable:
    case network:
    case rate_limited:
    case server_failed:
      return "RESOURCE_ERROR";
    case not_found:
    case permission:
    case io:
    case already_told:
    case unknown_ticket:
    case version:
    case corrupt:
    case tool_failed:
    case timeout:
    case untrusted:
    case bad_reply:
    case cancelled:
    case internal:
      return "SYSTEM_ERROR";
  }
  return "UNKNOWN_ERROR";
}

Verdict verdict_of(const Evaluation& evaluation, const EvaluationRequest& request) {
  Verdict verdict;
  verdict.correctness = evaluation.accepted();
  const Report& report = evaluation.report();
  if (!report.hardware.empty()) verdict.metadata["hardware"] = verdict.metadata["gpu_name"] = report.hardware;
  if (const std::string trials = trials_of(report); !trials.empty())
    verdict.metadata["correctness_trials"] = trials;
  if (const Rejection* rejection = evaluation.rejection())
    put_rejection(*rejection, request, verdict);
  else
    put_acceptance(evaluation, request, verdict);
  verdict.metadata["kernelsmith"] = own_metadata(evaluation);
  return verdict;
}

Verdict no_verdict(std::string_view error_code, std::string message) {
  Verdict verdict;
  verdict.error_code = error_code;
  verdict.error_message = std::move(message);
  return verdict;
}

Verdict verdict_of(const Error& error) {
  Verdict verdict;
  verdict.error_code = error_code_of(error.code);
  verdict.error_message = describe(error);
  verdict.metadata["kernelsmith"] = {{"error", name_of(error.code)}};
  return verdict;
}

}  // namespace kernelsmith::service
