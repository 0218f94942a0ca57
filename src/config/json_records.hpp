// The JSON form of every record: its fields, listed once for both directions.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/event.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/source.hpp>

#include "json_codec.hpp"

namespace kernelsmith::detail {

template <>
struct Codec<ErrorCode> : NameCodec<ErrorCode, error_code_from> {};
template <>
struct Codec<Stage> : NameCodec<Stage, stage_from> {};
template <>
struct Codec<RejectionCode> : NameCodec<RejectionCode, rejection_code_from> {};
template <>
struct Codec<RefusalCode> : NameCodec<RefusalCode, refusal_code_from> {};
template <>
struct Codec<Origin> : NameCodec<Origin, origin_from> {};
template <>
struct Codec<Operator> : NameCodec<Operator, operator_from> {};
template <>
struct Codec<Remeasurement> : NameCodec<Remeasurement, remeasurement_from> {};
template <>
struct Codec<EvaluationSource> : NameCodec<EvaluationSource, evaluation_source_from> {};

template <>
struct Fields<SourceFile> {
  static void list(auto& io, auto& file) {
    io("path", file.path);
    io("text", file.text);
  }
};
template <>
struct Codec<Source> {
  static Json encode(const Source& source) { return Codec<std::vector<SourceFile>>::encode(source.files()); }
  static Source decode(const Json& in, const JsonPath& path) {
    auto source = Source::create(Codec<std::vector<SourceFile>>::decode(in, path));
    if (!source) refuse(path, source.error().message + ": " + source.error().where);
    return std::move(*source);
  }
};

template <>
struct Fields<Error> {
  static void list(auto& io, auto& error) {
    io("code", error.code);
    io("message", error.message);
    io("where", error.where);
    io("hint", error.hint);
  }
};
template <>
struct Fields<Measurement> {
  static void list(auto& io, auto& measurement) {
    io("median", measurement.median);
    io("low", measurement.low);
    io("high", measurement.high);
    io("samples", measurement.samples);
    io("unit", measurement.unit);
  }
};
template <>
struct Codec<Metrics> {
  static Json encode(const Metrics& metrics) {
    Json out;
    ObjectWriter writer(out);
    writer("fitness", metrics.fitness());
    writer("features", metrics.features());
    return out;
  }
  static Metrics decode(const Json& in, const JsonPath& path) {
    ObjectReader reader(in, path);
    auto fitness = reader.get<Measurement>("fitness");
    auto features = reader.get<std::map<std::string, double>>("features");
    reader.finish();
    auto metrics = Metrics::create(std::move(fitness), std::move(features));
    if (!metrics) refuse(path, metrics.error().message);
    return std::move(*metrics);
  }
};

template <>
struct Fields<ShapeResult> {
  static void list(auto& io, auto& result) {
    io("shape", result.shape);
    io("timed", result.timed);
    io("correct", result.correct);
    io("error", result.error);
    io("runtime_us", result.runtime_us);
    io("speedup", result.speedup);
    io.defaulted("short_call", result.short_call);
    io("weight", result.weight);
  }
};
template <>
struct Fields<Artifact> {
  static void list(auto& io, auto& artifact) {
    io("name", artifact.name);
    io("text", artifact.text);
  }
};
template <>
struct Fields<Report> {
  static void list(auto& io, auto& report) {
    io("shapes", report.shapes);
    io("speedup", report.speedup);
    io("runtime_us", report.runtime_us);
    io("over_yardstick", report.over_yardstick);
    io("duel", report.duel);
    io("incumbent_failed", report.incumbent_failed);
    io("binary", report.binary);
    io("tier", report.tier);
    io("hardware", report.hardware);
    io("toolchain", report.toolchain);
    io.defaulted("advice", report.advice);
    io("spent_ms", report.spent_ms);
    io("artifacts", report.artifacts);
  }
};
template <>
struct Fields<Rejection> {
  static void list(auto& io, auto& rejection) {
    io("stage", rejection.stage);
    io("code", rejection.code);
    io("diagnostics", rejection.diagnostics);
    io("report", rejection.report);
  }
};

template <>
struct Codec<Evaluation> {
  static Json encode(const Evaluation& evaluation) {
    Json out;
    ObjectWriter writer(out);
    writer("accepted", evaluation.accepted());
    if (const Metrics* metrics = evaluation.metrics()) {
      writer("metrics", *metrics);
      writer("report", evaluation.report());
    } else {
      Fields<Rejection>::list(writer, *evaluation.rejection());
    }
    return out;
  }
  static Evaluation decode(const Json& in, const JsonPath& path) {
    ObjectReader reader(in, path);
    const auto evaluation = reader.get<bool>("accepted") ? accepted(reader) : rejected(reader);
    reader.finish();
    return evaluation;
  }

 private:
  static Evaluation accepted(ObjectReader& reader) {
    auto metrics = reader.get<Metrics>("metrics");
    return Acceptance{std::move(metrics), reader.get<Report>("report")};
  }
  static Evaluation rejected(ObjectReader& reader) {
    Rejection rejection;
    Fields<Rejection>::list(reader, rejection);
    return rejection;
  }
};

template <>
struct Fields<Rival> {
  static void list(auto& io, auto& rival) {
    io("program", rival.program);
    io("source", rival.source);
  }
};
template <>
struct Fields<EvaluationJob> {
  static void list(auto& io, auto& job) {
    io("run", job.run);
    io("candidate", job.candidate);
    io("attempt", job.attempt);
    io("task", job.task);
    io("source", job.source);
    io("remeasurement", job.remeasurement);
    io("rival", job.rival);
    io("may_thaw", job.may_edit_frozen);
    io("careful", job.careful);
  }
};
template <>
struct Fields<Child> {
  static void list(auto& io, auto& child) {
    io("source", child.source);
    io("origin", child.origin);
    io("parents", child.parents);
  }
};
template <>
struct Fields<Refusal> {
  static void list(auto& io, auto& refusal) {
    io("code", refusal.code);
    io("detail", refusal.detail);
  }
};
template <>
struct Fields<Cost> {
  static void list(auto& io, auto& cost) {
    io("usd", cost.usd);
    io("input_tokens", cost.input_tokens);
    io("output_tokens", cost.output_tokens);
    io("cached_tokens", cost.cached_tokens);
    io("reasoning_tokens", cost.reasoning_tokens);
    io.defaulted("model", cost.model);
    io.defaulted("revision", cost.revision);
    io.defaulted("calls", cost.calls);
    io.defaulted("untold", cost.untold);
    io.defaulted("unpriced", cost.unpriced);
    io.defaulted("guessed_usd", cost.guessed_usd);
  }
};
template <>
struct Fields<KeptReply> {
  static void list(auto& io, auto& reply) {
    io("model", reply.model);
    io("text", reply.text);
    io.defaulted("reasoning", reply.reasoning);
    io.defaulted("tokens", reply.tokens);
    io.defaulted("logprobs", reply.logprobs);
    io.defaulted("token_ids", reply.token_ids);
    io.defaulted("prompt_token_ids", reply.prompt_token_ids);
    io.defaulted("system", reply.system);
    io.defaulted("user", reply.user);
    io("template_digest", reply.template_digest);
    io("temperature", reply.sampling.temperature);
    io("top_p", reply.sampling.top_p);
    io("max_output_tokens", reply.sampling.max_output_tokens);
    io.defaulted("reasoning_effort", reply.sampling.reasoning_effort);
    io.defaulted("finish_reason", reply.sampling.finish_reason);
    io.defaulted("cut", reply.cut);
  }
};
template <>
struct Codec<Proposal> {
  static Json encode(const Proposal& proposal) {
    Json out;
    ObjectWriter writer(out);
    if (const Child* child = proposal.child()) writer("child", *child);
    if (const Refusal* refusal = proposal.refusal()) writer("refusal", *refusal);
    if (const Error* error = proposal.error()) writer("error", *error);
    writer("cost", proposal.cost);
    writer("prompt", proposal.prompt);
    writer("reply", proposal.reply);
    writer("transcript", proposal.transcript);
    return out;
  }
  static Proposal decode(const Json& in, const JsonPath& path) {
    ObjectReader reader(in, path);
    Proposal proposal;
    std::optional<Child> child;
    std::optional<Refusal> refusal;
    std::optional<Error> error;
    reader("child", child);
    reader("refusal", refusal);
    reader("error", error);
    reader("cost", proposal.cost);
    reader("prompt", proposal.prompt);
    reader("reply", proposal.reply);
    reader("transcript", proposal.transcript);
    reader.finish();
    if (child.has_value() + refusal.has_value() + error.has_value() != 1)
      refuse(path, "expected one of 'child', 'refusal' and 'error'");
    if (child) proposal.outcome = std::move(*child);
    if (error) proposal.outcome = PaidError(std::move(*error));
    if (refusal) proposal.outcome = std::move(*refusal);
    return proposal;
  }
};

}  // namespace kernelsmith::detail
