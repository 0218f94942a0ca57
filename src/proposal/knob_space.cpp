#include "knob_space.hpp"

#include <algorithm>

namespace kernelsmith::detail {
namespace {

struct Rank {
  double number = 0;
  std::size_t value = 0;
};

// The values by size, or nothing if one is no number.
std::vector<Rank> ordered(const Knob& knob) {
  std::vector<Rank> order;
  for (std::size_t i = 0; i < knob.values.size(); ++i) {
    const auto number = number_of(knob.values[i]);
    if (!number) return {};
    order.push_back({*number, i});
  }
  std::ranges::stable_sort(order, {}, &Rank::number);
  return order;
}

bool same_knob(const Knob& a, const Knob& b) {
  return a.file == b.file && a.name == b.name && a.values == b.values;
}

}  // namespace

Point current_point(const std::vector<Knob>& knobs) {
  Point point;
  for (const Knob& knob : knobs) point.push_back(knob.current);
  return point;
}

std::vector<std::size_t> neighbours(const Knob& knob, std::size_t value) {
  std::vector<std::size_t> result;
  const std::vector<Rank> order = ordered(knob);
  if (order.empty()) {
    for (std::size_t i = 0; i < knob.values.size(); ++i) {
      if (i != value) result.push_back(i);
    }
    return result;
  }
  const auto at = std::ranges::find(order, value, &Rank::value);
  if (at != order.begin()) result.push_back((at - 1)->value);
  if (at + 1 != order.end()) result.push_back((at + 1)->value);
  return result;
}

Point point_of(const std::vector<Knob>& other, const std::vector<Knob>& knobs, const Point& fallback) {
  Point point = fallback;
  std::vector<bool> used(other.size(), false);
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    for (std::size_t j = 0; j < other.size(); ++j) {
      if (used[j] || !same_knob(knobs[i], other[j])) continue;
      used[j] = true;
      point[i] = other[j].current;
      break;
    }
  }
  return point;
}

}  // namespace kernelsmith::detail
