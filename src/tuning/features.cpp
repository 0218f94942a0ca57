#include "features.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace kernelsmith::detail {
namespace {

// The number of pairs grows with the square, so only this many numbers of a program are paired.
constexpr std::size_t kPairedNumbers = 8;

bool positive(const std::vector<double>& numbers) {
  return !numbers.empty() && std::ranges::all_of(numbers, [](double n) { return n > 0 && std::isfinite(n); });
}

bool whole(double n) { return n == std::floor(n) && n < 9e15; }

// Whether the numbers are whole numbers for which divisibility says more than size.
bool divisible(const std::vector<double>& numbers) {
  return numbers.size() > 2 && std::ranges::all_of(numbers, whole) &&
         !std::ranges::all_of(numbers,
                              [](double n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); });
}

}  // namespace

FeatureMap::FeatureMap(const TuningSpace& space) {
  std::vector<std::size_t> logs;
  const auto& dimensions = space.dimensions();
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto& numbers = dimensions[i].numbers;
    if (numbers.empty()) {
      for (std::size_t value = 0; value < dimensions[i].size; ++value) {
        Column flag{i, std::vector<double>(dimensions[i].size, 0)};
        flag.of[value] = 1;
        columns_.push_back(flag);
      }
      continue;
    }
    columns_.push_back({i, numbers});
    if (!positive(numbers) || numbers.size() < 2) continue;
    for (double& n : columns_.back().of) n = std::log2(n);
    if (logs.size() < kPairedNumbers) logs.push_back(columns_.size() - 1);
  }
  own_ = columns_.size();
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (!positive(dimensions[i].numbers) || !divisible(dimensions[i].numbers)) continue;
    Column twos{i, {}}, rest{i, {}};
    for (const double n : dimensions[i].numbers) {
      const auto zeros = std::countr_zero(static_cast<std::uint64_t>(n));
      twos.of.push_back(zeros);
      rest.of.push_back(std::log2(n) - zeros);
    }
    columns_.push_back(twos);
    columns_.push_back(rest);
  }
  for (std::size_t a = 0; a < logs.size(); ++a) {
    for (std::size_t b = a + 1; b < logs.size(); ++b) {
      pairs_.push_back({logs[a], logs[b], 1});
      pairs_.push_back({logs[a], logs[b], -1});
    }
  }
  for (const Column& column : columns_) {
    const auto [low, high] = std::ranges::minmax(column.of);
    low_.push_back(low);
    width_.push_back(high > low ? high - low : 1);
  }
  for (const Pair& pair : pairs_) {
    const double width = width_[pair.a] + width_[pair.b];
    const double low =
        pair.sign > 0 ? low_[pair.a] + low_[pair.b] : low_[pair.a] - low_[pair.b] - width_[pair.b];
    low_.push_back(low);
    width_.push_back(width);
  }
}

Features FeatureMap::operator()(const TuningPoint& point) const {
  Features features;
  features.reserve(size());
  for (const Column& column : columns_) features.push_back(column.of[point[column.dimension]]);
  for (const Pair& pair : pairs_) features.push_back(features[pair.a] + pair.sign * features[pair.b]);
  for (std::size_t i = 0; i < features.size(); ++i) features[i] = (features[i] - low_[i]) / width_[i];
  return features;
}

}  // namespace kernelsmith::detail
