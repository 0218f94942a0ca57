#include "judge/decision.hpp"

#include <kernelsmith/evaluator/statistics.hpp>

#include "judge/constants.hpp"
#include "timing/lone_cap.hpp"

namespace kernelsmith::judge {
namespace {

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void cap(std::vector<double>& batch_us, const std::vector<double>& lone_us, const timing::ShapeSamples& shape,
         double noise_us) {
  if (batch_us.empty()) return;
  const double factor = timing::lone_cap(
      {median_of(batch_us), median_of(shape.batches.yardstick_us), lone_us, shape.lone.yardstick_us},
      noise_us);
  for (double& us : batch_us) us /= factor;
}

/// Variation between runs affects all shapes at once, so floors do not average out like noise.
double mean_floor(const std::vector<ShapeScore>& scores, std::span<const double> weights) {
  double sum = 0;
  for (std::size_t shape = 0; shape < scores.size(); ++shape)
    sum += scores[shape].floor * (weights.empty() ? 1 : weights[shape]);
  return weights.empty() ? sum / static_cast<double>(scores.size()) : sum;
}

/// The candidate's speedup, with the number of samples of the candidate's ratio.
Measurement scaled(const Measurement& scale, const Measurement& ratio) {
  Measurement speedup = product(scale, ratio, "x");
  speedup.samples = ratio.samples;
  return speedup;
}

}  // namespace

void cap_by_lone_calls(timing::ShapeSamples& shape, double noise_us) {
  cap(shape.batches.candidate_us, shape.lone.candidate_us, shape, noise_us);
  cap(shape.batches.rival_us, shape.lone.rival_us, shape, noise_us);
}

std::optional<std::size_t> unsteady_shape(const std::vector<timing::ShapeSamples>& shapes) {
  const auto scatters = [](const std::vector<double>& values) {
    return relative_half_width(median_interval(values, "")) > kUnsteady;
  };
  for (std::size_t shape = 0; shape < shapes.size(); ++shape)
    if (scatters(shapes[shape].batches.ratios()) && scatters(shapes[shape].batches.yardstick_us))
      return shape;
  return std::nullopt;
}

std::vector<ShapeScore> score_shapes(const std::vector<timing::ShapeSamples>& shapes, const Floors& floors,
                                     Pool& pool) {
  pool.ratios.resize(shapes.size());
  pool.times_us.resize(shapes.size());
  std::vector<ShapeScore> scores;
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    append(pool.ratios[shape], shapes[shape].batches.ratios());
    append(pool.times_us[shape], shapes[shape].batches.candidate_us);
    const double yardstick_us = median_of(shapes[shape].batches.yardstick_us);
    const bool short_call = yardstick_us < floors.short_us;
    scores.push_back({median_interval(pool.ratios[shape], "x"), median_interval(pool.times_us[shape], "us"),
                      yardstick_us, short_call, short_call ? floors.short_call : floors.like_with_like});
  }
  return scores;
}

Measurement conclude(const std::vector<ShapeScore>& scores, std::span<const double> weights,
                     const Scale& scale, const Floors& floors, Report& report) {
  std::vector<Measurement> ratios, runtimes;
  for (std::size_t shape = 0; shape < scores.size(); ++shape) {
    const ShapeScore& score = scores[shape];
    ShapeResult& result = report.shapes[shape];
    result.speedup = scaled(scale.by_shape[shape], with_floor(score.ratio, score.floor));
    result.runtime_us = with_floor(score.runtime_us, floors.times);
    result.short_call = score.short_call;
    ratios.push_back(score.ratio);
    runtimes.push_back(score.runtime_us);
  }
  const Measurement ratio = geometric_mean(ratios, "x", weights);
  report.over_yardstick = with_floor(ratio, mean_floor(scores, weights));
  report.speedup = scaled(scale.mean, *report.over_yardstick);
  report.runtime_us = with_floor(geometric_mean(runtimes, "us", weights), floors.times);
  // The baseline's uncertainty is the same for all candidates of a run.
  return scaled(Measurement::exact(scale.mean.median, "x"), *report.over_yardstick);
}

Measurement duel(const std::vector<timing::ShapeSamples>& shapes, const std::vector<ShapeScore>& scores,
                 std::span<const double> weights) {
  std::vector<Measurement> by_shape;
  for (const auto& [batches, lone] : shapes) {
    std::vector<double> ratios(batches.size());
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = batches.rival_us[i] / batches.candidate_us[i];
    by_shape.push_back(median_interval(ratios, "x"));
  }
  return with_floor(geometric_mean(by_shape, "x", weights), mean_floor(scores, weights));
}

}  // namespace kernelsmith::judge
