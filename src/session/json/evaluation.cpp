// The object of an evaluation.
#include <kernelsmith/session/run_json.hpp>

#include "values.hpp"

namespace kernelsmith {
namespace view_json {
namespace {

Json median(const std::optional<Measurement>& value) { return value ? Json(value->median) : Json(nullptr); }

Json shape_object(const ShapeResult& result) {
  Json shape = {{"shape", result.shape},
                {"timed", result.timed},
                {"correct", or_null(result.correct)},
                {"error", result.error},
                {"runtime_us", median(result.runtime_us)},
                {"runtime", interval(result.runtime_us)},
                {"speedup", interval(result.speedup)},
                {"short_call", result.short_call}};
  if (result.weight) shape["weight"] = *result.weight;
  return shape;
}

Json artifacts_object(const Report& report) {
  Json logs = Json::object();
  for (const Artifact& artifact : report.artifacts) logs[artifact.name] = artifact.text;
  return logs;
}

}  // namespace

Json evaluation_object(const Evaluation& evaluation, const Extent& extent) {
  const Report& report = evaluation.report();
  const Metrics* metrics = evaluation.metrics();
  const Rejection* rejection = evaluation.rejection();
  return {{"accepted", evaluation.accepted()},
          {"stage", rejection ? Json(name_of(rejection->stage)) : Json(nullptr)},
          {"code", rejection ? Json(name_of(rejection->code)) : Json(nullptr)},
          {"diagnostics", rejection ? Json(cut(rejection->diagnostics, extent.text_bytes)) : Json(nullptr)},
          {"fitness", metrics ? Json(metrics->fitness().median) : Json(nullptr)},
          {"measurement", fitness_interval(evaluation)},
          {"features", metrics ? Json(metrics->features()) : Json::object()},
          {"speedup", interval(report.speedup)},
          {"over_yardstick", interval(report.over_yardstick)},
          {"runtime_us", median(report.runtime_us)},
          {"runtime", interval(report.runtime_us)},
          {"shapes", list_of(report.shapes, shape_object)},
          {"tier", report.tier},
          {"hardware", report.hardware},
          {"toolchain", report.toolchain},
          {"advice", report.advice},
          {"spent_ms", Json(report.spent_ms)},
          {"artifacts", extent.logs ? artifacts_object(report) : Json::object()}};
}

}  // namespace view_json

std::string evaluation_json(const Evaluation& evaluation) {
  return view_json::one_line(view_json::evaluation_object(evaluation, {}));
}

}  // namespace kernelsmith
