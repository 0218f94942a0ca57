#include "evaluation_json.hpp"

namespace kernelsmith::ui {
namespace {

constexpr std::size_t kMostDiagnosticsBytes = 16'000;

/// Check shapes of an acceptance all passed: they are counted only.
Json shapes_of(const Report& report) {
  Json list = Json::array();
  for (const ShapeResult& shape : report.shapes)
    if (shape.timed)
      list.push_back({{"shape", shape.shape},
                      {"runtime_us", json_of(shape.runtime_us)},
                      {"speedup", json_of(shape.speedup)},
                      {"short_call", shape.short_call}});
  return list;
}

std::size_t checked_shapes(const Report& report) {
  std::size_t count = 0;
  for (const ShapeResult& shape : report.shapes) count += shape.correct == true ? 1 : 0;
  return count;
}

}  // namespace

Json rejection_json(const Evaluation& evaluation) {
  const Rejection* rejection = evaluation.rejection();
  if (!rejection) return nullptr;
  return {{"stage", name_of(rejection->stage)},
          {"code", name_of(rejection->code)},
          {"diagnostics", cut_text(rejection->diagnostics, kMostDiagnosticsBytes)}};
}

Json evaluation_json(const Evaluation& evaluation) {
  const Report& report = evaluation.report();
  const Metrics* metrics = evaluation.metrics();
  return {{"fitness", metrics ? json_of(metrics->fitness()) : Json(nullptr)},
          {"features", metrics ? Json(metrics->features()) : Json::object()},
          {"rejection", rejection_json(evaluation)},
          {"speedup", json_of(report.speedup)},
          {"runtime_us", json_of(report.runtime_us)},
          {"shapes", shapes_of(report)},
          {"correct_shapes", checked_shapes(report)},
          {"tier", report.tier},
          {"hardware", report.hardware},
          {"toolchain", report.toolchain},
          {"advice", report.advice},
          {"spent_ms", report.spent_ms}};
}

}  // namespace kernelsmith::ui
