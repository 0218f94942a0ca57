#include <algorithm>
#include <utility>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/evaluator/inputs.hpp>
#include <kernelsmith/session/candidate_profile.hpp>
#include <kernelsmith/session/session.hpp>

namespace kernelsmith {
namespace {

/// Returns the declared amount of work, or empty if none is declared.
std::optional<double> declared(const std::string& expression, const Sizes& sizes) {
  if (expression.empty()) return std::nullopt;
  const auto value = evaluate_expression(expression, sizes);
  return value && *value > 0 ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

Pace pace_of(const Task& task, const TaskShape& shape, const Measurement& us) {
  constexpr double kToGiga = 1e-3;  // from units per microsecond to giga-units per second
  auto bytes = declared(task.declared.bytes, shape.sizes);
  if (!bytes && shape.bytes() > 0) bytes = static_cast<double>(shape.bytes());
  const auto operations = declared(task.declared.operations, shape.sizes);
  Pace pace{shape.name, us, {}, {}, {}};
  if (bytes) pace.gb_per_s = *bytes / us.median * kToGiga;
  if (operations) pace.gflop_per_s = *operations / us.median * kToGiga;
  if (bytes && operations) pace.operations_per_byte = *operations / *bytes;
  return pace;
}

}  // namespace

std::vector<Pace> paces_of(const Task& task, const Report& report) {
  std::vector<Pace> paces;
  const auto shapes = shapes_of(task);
  for (const ShapeResult& result : report.shapes) {
    if (!result.timed || !result.runtime_us || result.runtime_us->median <= 0) continue;
    const auto shape = std::ranges::find(shapes, result.shape, &TaskShape::name);
    paces.push_back(shape != shapes.end() ? pace_of(task, *shape, *result.runtime_us)
                                          : Pace{result.shape, *result.runtime_us, {}, {}, {}});
  }
  return paces;
}

Result<CandidateProfile> profile_candidate(const Task& task, const RunConfig& config, const Source& source,
                                           bool evaluate, const std::stop_token& stop) {
  CandidateProfile profile;
  // Profiles before evaluating, because the evaluator keeps GPU memory while it exists.
  auto gpu = config.evaluator.provider->profile(task, source, stop);
  if (gpu)
    profile.gpu = std::move(*gpu);
  else if (gpu.error().code == ErrorCode::unsupported)
    profile.missing.push_back(gpu.error().message);
  else if (gpu.error().code != ErrorCode::refused || !evaluate)  // the evaluation reports why it refuses
    return gpu.error();
  if (!evaluate) return profile;
  const auto evaluation = evaluate_one(task, config, source, stop);
  if (evaluation) {
    profile.evaluation = *evaluation;
    profile.paces = paces_of(task, evaluation->report());
  } else if (profile.gpu && evaluation.error().code == ErrorCode::unsupported) {
    profile.missing.push_back("verdict and times: " + evaluation.error().message);
  } else {
    return evaluation.error();
  }
  return profile;
}

}  // namespace kernelsmith
