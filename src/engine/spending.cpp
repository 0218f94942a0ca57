#include <algorithm>
#include <cmath>

#include <kernelsmith/engine/spending.hpp>

namespace kernelsmith {
namespace {

/// A recording may contain anything, so negative costs are ignored.
double dollars(double usd) { return std::isfinite(usd) ? std::max(usd, 0.0) : 0; }

}  // namespace

CallTotals& CallTotals::operator+=(const CallTotals& other) {
  calls += other.calls;
  untold += other.untold;
  unpriced += other.unpriced;
  input_tokens += other.input_tokens;
  cached_tokens += other.cached_tokens;
  output_tokens += other.output_tokens;
  reasoning_tokens += other.reasoning_tokens;
  usd += other.usd;
  guessed_usd += other.guessed_usd;
  return *this;
}

void Spending::add(const Cost& cost) {
  if (cost == Cost{}) return;
  const std::uint64_t calls = std::max<std::uint64_t>(cost.calls, 1);  // a cost without a count is one call
  models_[cost.revision.empty() ? cost.model : cost.model + "@" + cost.revision] +=
      {.calls = calls,
       .untold = cost.untold,
       .unpriced = cost.unpriced ? calls : 0,
       .input_tokens = cost.input_tokens,
       .cached_tokens = cost.cached_tokens.value_or(0),
       .output_tokens = cost.output_tokens,
       .reasoning_tokens = cost.reasoning_tokens.value_or(0),
       .usd = dollars(cost.usd),
       .guessed_usd = dollars(cost.guessed_usd)};
}

CallTotals Spending::total() const {
  CallTotals sum;
  for (const auto& [model, totals] : models_) sum += totals;
  return sum;
}

bool Spending::unpriced() const {
  const CallTotals sum = total();
  return sum.calls > 0 && sum.unpriced == sum.calls;
}

double Spending::usd() const {
  const CallTotals sum = total();
  return sum.usd + sum.guessed_usd;
}

}  // namespace kernelsmith
