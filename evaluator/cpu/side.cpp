#include "side.hpp"

#include <algorithm>

#include <kernelsmith/evaluator/statistics.hpp>

namespace kernelsmith {
namespace {

/// A call as long as this is a batch by itself.
constexpr double kAloneUs = 100;
/// One that was and turns out to be a little shorter remains one.
constexpr double kStillAloneUs = 75;
/// One as long as this by itself is long beside what a request costs.
constexpr double kLongUs = 400;
/// Of shorter calls a batch holds as many as take this, which is long beside what a request costs and short
/// beside the drift of the machine.
constexpr double kBatchUs = 500;
/// A busy machine makes a request cost some ten microseconds more or less: a shorter batch would measure
/// that, so short calls use up the sets faster and have the object loaded anew more often.
constexpr double kLeastBatchUs = 400;
constexpr std::size_t kCallsTried = 4;

}  // namespace

Judged<void> Side::size() {
  const std::size_t most = most_calls(), thrifty = std::max<std::size_t>(1, most / 3);
  if (most == 1) return {};  // nothing to choose
  auto one = object.batch(shape, 1);
  if (one && *one < kAloneUs) one = object.batch(shape, std::min(thrifty, kCallsTried));
  if (!one) return one.error();
  call_us = *one;
  if (call_us >= kAloneUs) return {};
  calls = calls_per_batch(call_us, kBatchUs, thrifty);
  if (static_cast<double>(calls) * call_us < kLeastBatchUs)
    calls = calls_per_batch(call_us, kLeastBatchUs, most);
  return {};
}

void Side::join(const Side& other) {
  if (calls == 1 && other.calls > 1 && call_us < kLongUs)
    calls = calls_per_batch(call_us, kBatchUs, most_calls());
}

bool Side::lengthen(double seen_us) {
  call_us = seen_us;
  if (calls == 1 && call_us >= kStillAloneUs) return false;
  const std::size_t fitting = calls_per_batch(call_us, kBatchUs, most_calls());
  if (fitting <= 2 * calls) return false;
  calls = fitting;
  return true;
}

}  // namespace kernelsmith
