#include <algorithm>
#include <cmath>
#include <set>

#include <kernelsmith/suite/metrics.hpp>

namespace kernelsmith {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::optional<double> rate(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? std::nullopt : std::optional(share(part, whole));
}

/// What a speedup contributes to the mean: nothing if it is below 1.
double counted(double speedup) { return speedup < 1 ? 0 : speedup; }

std::vector<double> speedups_of(std::span<const TaskResult> results) {
  std::vector<double> speedups;
  for (const TaskResult& result : results)
    if (result.correct && result.speedup) speedups.push_back(result.speedup->median);
  std::ranges::sort(speedups);
  return speedups;
}

std::optional<double> geometric_mean(const std::vector<double>& sorted) {
  if (sorted.empty() || sorted.front() <= 0) return std::nullopt;
  double sum = 0;
  for (const double value : sorted) sum += std::log(value);
  return std::exp(sum / static_cast<double>(sorted.size()));
}

std::optional<double> median_of(const std::vector<double>& sorted) {
  if (sorted.empty()) return std::nullopt;
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/// The mean of the best by round. A search that ended before the others counts with its last value.
std::vector<double> mean_by_round(std::span<const TaskResult> results) {
  std::size_t rounds = 0;
  for (const TaskResult& result : results) rounds = std::max(rounds, result.best_by_round.size());
  std::vector<double> means(rounds, 0);
  for (const TaskResult& result : results)
    for (std::size_t i = 0; i < rounds && !result.best_by_round.empty(); ++i)
      means[i] += counted(result.best_by_round[std::min(i, result.best_by_round.size() - 1)]);
  for (double& mean : means) mean /= static_cast<double>(results.size());
  return means;
}

SuiteMetrics metrics_of(std::optional<unsigned> level, std::span<const TaskResult> results) {
  SuiteMetrics metrics;
  metrics.level = level;
  metrics.tasks = results.size();
  std::uint64_t correct = 0, candidates = 0, hacks = 0, trivial = 0;
  for (const TaskResult& result : results) {
    metrics.errors += result.error ? 1 : 0;
    correct += result.correct ? 1 : 0;
    trivial += result.correct && result.trivial ? 1 : 0;
    candidates += result.candidates;
    hacks += result.hacks;
    metrics.cost += result.cost;
  }
  metrics.corr = share(correct, metrics.tasks);
  const std::vector<double> speedups = speedups_of(results);
  for (std::size_t i = 0; i < kFastThresholds.size(); ++i) {
    const auto faster =
        std::ranges::count_if(speedups, [&](double speedup) { return speedup > kFastThresholds[i]; });
    metrics.fast[i] = share(static_cast<std::uint64_t>(faster), metrics.tasks);
  }
  for (const double speedup : speedups) metrics.amsr += counted(speedup) / static_cast<double>(metrics.tasks);
  metrics.geomean = geometric_mean(speedups);
  metrics.median = median_of(speedups);
  metrics.hack_rate = rate(hacks, candidates);
  metrics.trivial_rate = rate(trivial, correct);
  metrics.amsr_by_round = mean_by_round(results);
  return metrics;
}

}  // namespace

SuiteCost& SuiteCost::operator+=(const SuiteCost& other) {
  calls += other.calls;
  unpriced += other.unpriced;
  input_tokens += other.input_tokens;
  output_tokens += other.output_tokens;
  usd += other.usd;
  return *this;
}

std::vector<TaskResult> without_shortcuts(std::span<const TaskResult> results) {
  std::vector<TaskResult> plain;
  std::ranges::copy_if(results, std::back_inserter(plain),
                       [](const TaskResult& result) { return !result.degenerate && !result.algebraic; });
  return plain;
}

std::vector<SuiteMetrics> summarise(std::span<const TaskResult> results) {
  std::set<unsigned> levels;
  for (const TaskResult& result : results) levels.insert(result.level);
  std::vector<SuiteMetrics> all;
  for (const unsigned level : levels) {
    std::vector<TaskResult> of_level;
    std::ranges::copy_if(results, std::back_inserter(of_level),
                         [&](const TaskResult& result) { return result.level == level; });
    all.push_back(metrics_of(level, of_level));
  }
  all.push_back(metrics_of(std::nullopt, results));
  return all;
}

}  // namespace kernelsmith
