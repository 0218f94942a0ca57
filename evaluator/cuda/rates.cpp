#include "rates.hpp"

#include <utility>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/evaluator/bound.hpp>
#include <kernelsmith/evaluator/inputs.hpp>

namespace kernelsmith::cuda {
namespace {

/// The declared work; 0 if undeclared.
double declared(const std::string& expression, const Sizes& sizes) {
  if (expression.empty()) return 0;
  const auto value = evaluate_expression(expression, sizes);
  return value ? static_cast<double>(*value) : 0;
}

}  // namespace

std::map<std::string, double> rates_of(const Task& task, const Report& report, double bytes_per_us) {
  if (report.shapes.empty() || !report.shapes.front().runtime_us) return {};
  const double us = report.shapes.front().runtime_us->median;
  const TaskShape shape = shapes_of(task).front();
  std::map<std::string, double> rates;
  double bytes = declared(task.declared.bytes, shape.sizes);
  if (bytes == 0) bytes = static_cast<double>(shape.bytes());
  rates["gb_per_s"] = bytes / us / 1e3;
  if (bytes_per_us > 0) rates["share_of_bandwidth"] = bytes / us / bytes_per_us;
  if (const double operations = declared(task.declared.operations, shape.sizes); operations > 0)
    rates["tflop_per_s"] = operations / us / 1e6;
  return rates;
}

Evaluation with_bound(const Evaluation& evaluation) {
  const auto* const accepted = std::get_if<Acceptance>(&evaluation.outcome());
  if (!accepted) return evaluation;
  const auto feature = [&](const char* name) { return feature_of(*accepted, name); };
  Report report = accepted->report;
  if (report.shapes.empty() || !report.shapes.front().runtime_us) return evaluation;
  report.advice = bound_of({.us = report.shapes.front().runtime_us->median,
                            .share_of_bandwidth = feature("share_of_bandwidth"),
                            .launches = feature("launches"),
                            .spill_bytes = feature("spill_bytes"),
                            .occupancy = feature("occupancy"),
                            .waves = feature("waves")});
  return Acceptance{accepted->metrics, std::move(report)};
}

}  // namespace kernelsmith::cuda
