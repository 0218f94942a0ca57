#include "forest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kernelsmith::detail {
namespace {

constexpr std::size_t kTrees = 16;
constexpr std::size_t kTries = 10;  // number of splits that are tried at a node
constexpr std::size_t kLeast = 2;   // least number of samples in a leaf

}  // namespace

Forest::Forest(const Samples& samples, std::size_t own, Rng& rng) : samples_(samples), own_(own), rng_(rng) {
  std::vector<std::size_t> rows(samples.points.size());
  trees_.resize(kTrees);
  for (Tree& tree : trees_) {
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    grow(tree, rows, 0, rows.size());
  }
}

Forecast Forest::at(const Features& point) const {
  double sum = 0, squares = 0, within = 0;
  for (const Tree& tree : trees_) {
    std::size_t i = 0;
    while (tree[i].left != 0) i = point[tree[i].feature] <= tree[i].threshold ? tree[i].left : tree[i].right;
    sum += tree[i].mean;
    squares += tree[i].mean * tree[i].mean;
    within += tree[i].variance;
  }
  const auto n = static_cast<double>(trees_.size());
  const double mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean) + within / n)};
}

std::size_t Forest::grow(Tree& tree, std::vector<std::size_t>& rows, std::size_t begin, std::size_t end) {
  const std::size_t node = tree.size();
  tree.emplace_back();
  double sum = 0, squares = 0;
  for (std::size_t i = begin; i < end; ++i) sum += samples_.targets[rows[i]];
  const auto n = static_cast<double>(end - begin);
  for (std::size_t i = begin; i < end; ++i) squares += std::pow(samples_.targets[rows[i]] - sum / n, 2);
  tree[node].mean = sum / n;
  tree[node].variance = squares / n;
  if (end - begin < 2 * kLeast || squares < 1e-9) return node;
  const Split split = draw_split(rows, begin, end);
  if (split.gain < 0) return node;
  const auto at = [&](std::size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto middle = std::stable_partition(at(begin), at(end), [&](std::size_t row) {
    return samples_.points[row][split.feature] <= split.threshold;
  });
  const auto border = static_cast<std::size_t>(middle - rows.begin());
  const std::size_t left = grow(tree, rows, begin, border);
  const std::size_t right = grow(tree, rows, border, end);
  tree[node].feature = split.feature;
  tree[node].threshold = split.threshold;
  tree[node].left = left;
  tree[node].right = right;
  return node;
}

Forest::Split Forest::draw_split(const std::vector<std::size_t>& rows, std::size_t begin, std::size_t end) {
  Split best;
  const std::size_t all = samples_.points.front().size();
  for (std::size_t i = 0; i < kTries; ++i) {
    const auto feature = static_cast<std::size_t>(rng_.below(rng_.chance(0.5) ? own_ : all));
    double low = samples_.points[rows[begin]][feature], high = low;
    for (std::size_t row = begin; row < end; ++row) {
      low = std::min(low, samples_.points[rows[row]][feature]);
      high = std::max(high, samples_.points[rows[row]][feature]);
    }
    if (high - low < 1e-9) continue;
    const double threshold = low + (high - low) * rng_.uniform();
    double sums[2] = {0, 0};
    std::size_t counts[2] = {0, 0};
    for (std::size_t row = begin; row < end; ++row) {
      const int side = samples_.points[rows[row]][feature] <= threshold ? 0 : 1;
      sums[side] += samples_.targets[rows[row]];
      ++counts[side];
    }
    if (counts[0] < kLeast || counts[1] < kLeast) continue;
    const double gain = sums[0] * sums[0] / static_cast<double>(counts[0]) +
                        sums[1] * sums[1] / static_cast<double>(counts[1]);
    if (gain > best.gain) best = {feature, threshold, gain};
  }
  return best;
}

}  // namespace kernelsmith::detail
