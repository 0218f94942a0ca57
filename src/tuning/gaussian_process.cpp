#include "gaussian_process.hpp"

#include <algorithm>
#include <cmath>

namespace kernelsmith::detail {
namespace {

constexpr std::size_t kSteps = 40;  // steps of the hill climb
constexpr double kPairPrior = 1.5;  // the log length with which products and quotients begin
constexpr double kNugget = 3e-3;    // unexplained variance, which also keeps the root well conditioned

double matern(double squared_distance) {
  const double r = std::sqrt(5 * squared_distance);
  return (1 + r + r * r / 3) * std::exp(-r);
}

// Four sums, so that the compiler can vectorise without reordering.
double dot(const double* a, const double* b, std::size_t n) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
  }
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// Replaces the lower triangle by the Cholesky root, in place.
void take_root(std::vector<double>& matrix, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    double* row = &matrix[i * n];
    for (std::size_t j = 0; j < i; ++j) row[j] = (row[j] - dot(row, &matrix[j * n], j)) / matrix[j * n + j];
    row[i] = std::sqrt(std::max(row[i] - dot(row, row, i), 1e-10));
  }
}

std::vector<double> solve_lower(const std::vector<double>& root, std::vector<double> y) {
  const std::size_t n = y.size();
  for (std::size_t i = 0; i < n; ++i) y[i] = (y[i] - dot(&root[i * n], y.data(), i)) / root[i * n + i];
  return y;
}

// The logarithm of the likelihood with the best scale, up to a constant.
double likelihood(const std::vector<double>& squares, const Samples& samples) {
  const std::size_t n = samples.targets.size();
  std::vector<double> root(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) root[i * n + j] = matern(squares[i * n + j]);
    root[i * n + i] = 1 + kNugget + samples.noise[i];
  }
  take_root(root, n);
  const auto z = solve_lower(root, samples.targets);
  double logs = 0;
  for (std::size_t i = 0; i < n; ++i) logs += std::log(root[i * n + i]);
  const auto count = static_cast<double>(n);
  return -0.5 * count * std::log((dot(z.data(), z.data(), n) + 1) / (count + 1)) - logs;
}

void add(std::vector<double>& squares, const Samples& samples, std::size_t feature, double factor) {
  const std::size_t n = samples.points.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double step = samples.points[i][feature] - samples.points[j][feature];
      squares[i * n + j] += factor * step * step;
    }
  }
}

}  // namespace

std::vector<double> fit_lengths(const Samples& samples, std::size_t own, Rng& rng) {
  const std::size_t features = samples.points.front().size();
  const std::size_t n = samples.points.size();
  std::vector<double> prior(features, kPairPrior);
  std::fill_n(prior.begin(), own, 0.0);
  std::vector<double> lengths = prior;
  std::vector<double> squares(n * n, 0);
  for (std::size_t i = 0; i < features; ++i) add(squares, samples, i, std::exp(-2 * lengths[i]));
  double score = likelihood(squares, samples);
  for (std::size_t step = 0; step < kSteps; ++step) {
    const auto i = static_cast<std::size_t>(rng.below(features));
    const double length = lengths[i] + rng.normal();
    auto moved = squares;
    add(moved, samples, i, std::exp(-2 * length) - std::exp(-2 * lengths[i]));
    for (double& square : moved) square = std::max(square, 0.0);
    const double gained = likelihood(moved, samples) - score;
    const double paid = 0.5 * (std::pow(length - prior[i], 2) - std::pow(lengths[i] - prior[i], 2));
    if (gained < paid) continue;
    score += gained;
    squares = std::move(moved);
    lengths[i] = length;
  }
  return lengths;
}

GaussianProcess::GaussianProcess(const Samples& samples, const std::vector<double>& log_lengths)
    : samples_(samples) {
  for (const double length : log_lengths) inverse_.push_back(std::exp(-length));
  const std::size_t n = samples.points.size();
  root_.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) root_[i * n + j] = kernel(samples.points[i], samples.points[j]);
    root_[i * n + i] = 1 + kNugget + samples.noise[i];
  }
  take_root(root_, n);
  weights_ = solve_lower(root_, samples.targets);
  scale_ = (dot(weights_.data(), weights_.data(), n) + 1) / static_cast<double>(n + 1);
  for (std::size_t i = n; i-- > 0;) {
    weights_[i] /= root_[i * n + i];
    for (std::size_t j = 0; j < i; ++j) weights_[j] -= root_[i * n + j] * weights_[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double mean = samples.targets[i] - (kNugget + samples.noise[i]) * weights_[i];
    lowest_ = i == 0 ? mean : std::min(lowest_, mean);
  }
}

Forecast GaussianProcess::at(const Features& point) const {
  std::vector<double> near;
  near.reserve(samples_.points.size());
  for (const Features& sample : samples_.points) near.push_back(kernel(point, sample));
  const double mean = dot(near.data(), weights_.data(), near.size());
  const auto explained = solve_lower(root_, std::move(near));
  const double left = 1 - dot(explained.data(), explained.data(), explained.size());
  return {mean, std::sqrt(scale_ * std::max(left, 1e-12))};
}

double GaussianProcess::kernel(const Features& a, const Features& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double step = (a[i] - b[i]) * inverse_[i];
    sum += step * step;
  }
  return matern(sum);
}

}  // namespace kernelsmith::detail
