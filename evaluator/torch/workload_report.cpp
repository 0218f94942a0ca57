#include "workload_report.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>
#include <variant>

#include <kernelsmith/evaluator/bound.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

namespace kernelsmith::torch {
namespace {

/// The mean share of the memory's speed that calls reach.
double share_of_bandwidth(const std::vector<TimedRow>& rows, const ReferenceFacts& reference) {
  double sum = 0;
  for (const auto& [result, workload] : rows)
    sum += reference.workloads[workload].bytes_moved() / reference.bytes_per_us / result->runtime_us->median;
  return sum / static_cast<double>(rows.size());
}

/// The time that the memory needs for the bytes of a call, in microseconds, by workload.
std::string rooflines(const std::vector<TimedRow>& rows, const ReferenceFacts& reference) {
  std::ostringstream lines;
  for (const auto& [result, workload] : rows)
    lines << reference.workloads[workload].bytes_moved() / reference.bytes_per_us << "  " << result->shape
          << '\n';
  return lines.str();
}

/// The timed workloads, those that gain least first; empty if there is only one.
std::string words_on_workloads(const Report& report) {
  std::vector<const ShapeResult*> rows;
  for (const ShapeResult& row : report.shapes)
    if (row.timed && row.speedup && row.runtime_us) rows.push_back(&row);
  if (rows.size() < 2) return {};
  std::ranges::stable_sort(rows, {}, [](const ShapeResult* row) { return row->speedup->median; });
  std::ostringstream words;
  words << std::fixed << std::setprecision(2) << "Speedup and time of a call at each workload:\n";
  for (const ShapeResult* const row : rows)
    words << std::setw(9) << row->speedup->median << "x " << std::setw(12) << row->runtime_us->median
          << " us  " << row->shape << '\n';
  return words.str();
}

}  // namespace

std::vector<TimedRow> timed_rows(const Report& report, const ReferenceFacts& reference) {
  std::vector<TimedRow> rows;
  for (const ShapeResult& result : report.shapes) {
    if (!result.timed || !result.runtime_us || !result.speedup) continue;
    const auto named = std::ranges::find_if(reference.workloads, [&](const WorkloadFacts& facts) {
      return facts.told.name.empty() || facts.told.name == result.shape;
    });
    rows.push_back({&result, static_cast<std::size_t>(named - reference.workloads.begin())});
  }
  return rows;
}

Evaluation with_shortcut(const Evaluation& evaluation, const ReferenceFacts& reference,
                         const std::vector<double>& least_products_us) {
  const auto is_short = [&](const TimedRow& row) {
    return row.result->runtime_us->median < least_products_us[row.workload];
  };
  if (!std::ranges::any_of(timed_rows(evaluation.report(), reference), is_short)) return evaluation;
  return with_features(evaluation, {{"algebraic", 1}});
}

Evaluation with_profile(const Evaluation& evaluation, const Profile& profile, const std::string& workload,
                        const ReferenceFacts& reference, const std::string& memory) {
  std::map<std::string, double> features{{"own_share", profile.own_share}};
  if (const auto rows = timed_rows(evaluation.report(), reference);
      !rows.empty() && reference.bytes_per_us > 0)
    features["share_of_bandwidth"] = share_of_bandwidth(rows, reference);
  if (profile.peak_bytes > 0) features[kPeakMemory] = profile.peak_bytes;
  const Evaluation profiled = with_features(evaluation, features);
  auto accepted = std::get<Acceptance>(profiled.outcome());
  const std::string bound = bound_of({.us = feature_of(accepted, "runtime_us"),
                                      .share_of_bandwidth = feature_of(accepted, "share_of_bandwidth"),
                                      .spill_bytes = feature_of(accepted, "spill_bytes")});
  Report& report = accepted.report;
  report.artifacts.push_back({"profile.txt", profile.table});
  if (!memory.empty()) report.artifacts.push_back({"memory.txt", memory + "\n"});
  std::string notes;
  for (const std::string& note : reference.notes) notes += note + "\n";
  if (features.contains("share_of_bandwidth"))
    report.artifacts.push_back({"roofline.txt", rooflines(timed_rows(report, reference), reference)});
  if (!notes.empty()) report.artifacts.push_back({"notes.txt", notes});
  for (const Artifact& artifact : report.artifacts)
    if (artifact.name == kPlanText) report.advice = artifact.text;
  if (!bound.empty()) report.advice += bound + "\n";
  report.advice += words_on_workloads(report);
  report.advice += "The parts of a call" + (workload.empty() ? "" : " at " + workload) +
                   " that take most of its time, by themselves:\n" + profile.longest;
  return accepted;
}

}  // namespace kernelsmith::torch
