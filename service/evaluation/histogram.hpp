// Histogram: counts of durations in fixed buckets, as in Prometheus.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace kernelsmith::service {

/// A value; not thread-safe.
struct Histogram {
  static constexpr std::array kBounds = {0.001, 0.003, 0.01, 0.03,  0.1,   0.3,   1.0,
                                         3.0,   10.0,  30.0, 100.0, 300.0, 1000.0};

  void add(double seconds) {
    const auto bucket = std::ranges::lower_bound(kBounds, seconds);
    ++counts[static_cast<std::size_t>(bucket - kBounds.begin())];
    sum += seconds;
  }

  std::array<std::uint64_t, kBounds.size() + 1>
      counts{};  ///< of each bucket alone; the last one has no bound
  double sum = 0;
};

}  // namespace kernelsmith::service
