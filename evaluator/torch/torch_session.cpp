#include "torch_session.hpp"

#include <algorithm>
#include <utility>

#include <kernelsmith/evaluator/stopwatch.hpp>

namespace kernelsmith::torch {
namespace {

/// The time of a batch. Anything else is a bug of our own program.
Judged<double> time_in(const Json& reply) {
  const double us = number_at(reply, "us", -1);
  if (us > 0) return us;
  return Failure(fail(ErrorCode::tool_failed, "a worker of the torch backend gives no time for a batch"));
}

Fault fault_from(const std::string& kind) {
  if (kind == "not_written") return Fault::not_written;
  return kind == "not_finite" ? Fault::not_finite : Fault::wrong;
}

/// The position in the flat output of the element with these indices.
std::size_t flat_index(const Json& indices, const TensorExtent& extent) {
  std::size_t flat = 0, dimension = 0;
  for (const Json& index : indices) {
    if (dimension == extent.shape.size()) break;
    flat = flat * static_cast<std::size_t>(extent.shape[dimension++]) +
           (index.is_number_unsigned() ? index.get<std::size_t>() : 0);
  }
  return flat;
}

/// The rejection of an output whose shape or dtype differs from the reference's.
Rejection misshapen(const std::string& output, const Json& wrong) {
  return {Stage::correctness,
          RejectionCode::wrong_output,
          "'" + output + "' is " + member(wrong, "actual").dump() + ", and the reference's is " +
              member(wrong, "expected").dump(),
          {}};
}

}  // namespace

Findings ComparingSession::compare() {
  const AddedTime watch(spent_ms_["compare"]);
  Json request = request_for("compare");
  request.update(outputs_are_);
  const auto reply =
      host_.reference_process().ask(request, host_.reference_process().limits().compare_s, stop_);
  if (reply) {
    const double truth_ms = number_at(reply->json, "truth_s") * 1e3;
    spent_ms_["truth"] += truth_ms;
    spent_ms_["compare"] -= truth_ms;
    outputs_ = digest_of(text_at(reply->json, "digest"));
    return findings_of(reply->json);
  }
  const Failure failure = reply.error();
  Findings findings;
  if (const auto* const rejection = std::get_if<Rejection>(&failure)) {
    findings.broken = fault_of_check();
    if (!findings.broken) findings.rejected = *rejection;
    if (rejection->code == RejectionCode::crashed && findings.rejected)
      findings.rejected->code = RejectionCode::wrong_output;  // no kernel of the candidate's crashed
  } else {
    findings.broken = std::get<Error>(failure);
  }
  return findings;
}

std::optional<Error> ComparingSession::fault_of_check() {
  for (const char* const what : {"yardstick", "compare"}) {
    Json request = request_for(what);
    request["own"] = true;
    const auto reply =
        host_.reference_process().ask(request, host_.reference_process().limits().compare_s, stop_);
    if (!reply) return machine_error(reply.error());
    if (member(reply->json, "wrong").is_object())
      return fail(ErrorCode::refused, "the task's check does not take the reference's own outputs",
                  "files: reference");
  }
  return std::nullopt;
}

Findings ComparingSession::findings_of(const Json& reply) const {
  Findings findings;
  findings.error = number_at(reply, "error");
  const Json& wrong = member(reply, "wrong");
  if (!wrong.is_object()) return findings;
  Findings::Wrong found;
  found.call = count_at(wrong, "call");
  found.tensor = count_at(wrong, "tensor");
  if (found.call >= batch_.calls.size() || found.tensor >= host_.at(batch_.shape).outputs.size()) {
    findings.broken =
        fail(ErrorCode::tool_failed, "the judge of the torch backend names an output that is not");
    return findings;
  }
  const std::string kind = text_at(wrong, "kind");
  if (kind == "check") {
    findings.rejected = Rejection{Stage::correctness,
                                  RejectionCode::wrong_output,
                                  "the task's check says: " + text_at(wrong, "problem"),
                                  {}};
    return findings;
  }
  if (kind == "shape") {
    findings.rejected = misshapen(host_.at(batch_.shape).outputs[found.tensor].name, wrong);
    return findings;
  }
  found.result.fault = fault_from(kind);
  found.result.error = findings.error;
  found.result.worst = number_at(wrong, "worst", findings.error);
  found.result.worst_at = flat_index(member(wrong, "index"), host_.at(batch_.shape).extents[found.tensor]);
  const Tally tally{count_at(wrong, "count"), found.result.worst_at};
  Faults& faults = found.result.faults;
  (found.result.fault == Fault::wrong        ? faults.wrong
   : found.result.fault == Fault::not_finite ? faults.not_finite
                                             : faults.not_written) = tally;
  found.actual = number_at(wrong, "actual");
  found.due = Findings::Wrong::Due{number_at(wrong, "expected"), number_at(wrong, "allowed")};
  findings.wrong = found;
  return findings;
}

Json ComparingSession::request_for(const char* what) const {
  const TorchHost::Shape& shape = host_.shape(batch_.shape);
  return batch_request(what, shape.workload, shape.variant, batch_.calls);
}

Judged<void> PlanSession::load(std::size_t workload) {
  if (loaded_ == workload) return {};
  loaded_.reset();
  const AddedTime watch(spent_ms_["load"]);
  if (auto loaded = host_.load(*plan_, workload, runner_, stop_); !loaded) return loaded;
  loaded_ = workload;
  return {};
}

Judged<double> PlanSession::run(const Batch& batch) {
  batch_ = batch;
  if (const auto loaded = load(host_.shape(batch.shape).workload); !loaded) return loaded.error();
  const double limit_s = batch.timeout_s + host_.reference_process().limits().grace_s;
  Json request = request_for("run");
  request["call_s"] = batch.timeout_s;
  const auto ran = [&] {
    const AddedTime watch(spent_ms_["calls"]);
    return runner_.ask(request, limit_s, stop_);
  }();
  if (!ran) return host_.believed(ran.error(), stop_);
  auto time = time_in(ran->json);
  if (!time) return time;
  const AddedTime watch(spent_ms_["publish"]);
  const auto published = runner_.ask({{"do", "publish"}}, limit_s, stop_);
  if (!published) return host_.believed(published.error(), stop_);
  outputs_are_ = {{"outbox", member(published->json, "outbox")}};
  return time;
}

Judged<double> ReferenceSession::run(const Batch& batch) {
  batch_ = batch;
  const AddedTime watch(spent_ms_["calls"]);
  outputs_are_ = {{"own", true}};
  const double limit_s = batch.timeout_s + host_.reference_process().limits().grace_s;
  const auto ran = host_.reference_process().ask(request_for("yardstick"), limit_s, stop_);
  if (!ran) return Failure(machine_error(ran.error()));
  return time_in(ran->json);
}

}  // namespace kernelsmith::torch
