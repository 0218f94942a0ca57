#include "timing/input_schedule.hpp"

#include <numeric>
#include <utility>

namespace kernelsmith::timing {

InputSchedule::InputSchedule(std::size_t first, std::size_t end, Reuse reuse, SecretStream& random)
    : order_(end - first), reuse_(reuse), random_(&random) {
  std::iota(order_.begin(), order_.end(), first);
  shuffle();
}

std::vector<std::size_t> InputSchedule::take(std::size_t n) {
  if (next_ + n > order_.size()) shuffle();
  const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(next_);
  next_ += n;
  return {begin, begin + static_cast<std::ptrdiff_t>(n)};
}

void InputSchedule::shuffle() {
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_->below(i)]);
  next_ = 0;
}

}  // namespace kernelsmith::timing
