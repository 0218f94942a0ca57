#include "spending_text.hpp"

#include <fmt/format.h>

#include "text.hpp"

namespace kernelsmith::cli {
namespace {

std::string part_of(std::uint64_t tokens, const char* what) {
  return tokens > 0 ? fmt::format(" ({} {})", tokens, what) : "";
}

std::string calls_text(std::uint64_t calls) { return fmt::format("{} call{}", calls, calls == 1 ? "" : "s"); }

}  // namespace

std::string money_text(const Spending& spending, const std::optional<double>& limit) {
  return spending.unpriced() ? "price unknown" : usd_text(spending.usd(), limit);
}

std::string tokens_text(const CallTotals& totals) {
  return fmt::format("{}, {} tokens in{}, {} out{}", calls_text(totals.calls), totals.input_tokens,
                     part_of(totals.cached_tokens, "cached"), totals.output_tokens,
                     part_of(totals.reasoning_tokens, "reasoning"));
}

std::vector<std::string> unknown_costs(const Spending& spending) {
  std::vector<std::string> lines;
  const CallTotals total = spending.total();
  if (total.unpriced > 0)
    lines.push_back(fmt::format("unknown: {} to models without a price", calls_text(total.unpriced)));
  if (total.untold > 0) {
    std::string guessed;
    if (total.guessed_usd > 0)
      guessed = fmt::format("; counted as {} by the length of their texts", usd_text(total.guessed_usd));
    lines.push_back(
        fmt::format("unknown: {} whose tokens the server did not report (cut off, or without usage){}",
                    calls_text(total.untold), guessed));
  } else if (total.guessed_usd > 0) {
    lines.push_back(
        fmt::format("unknown: texts whose tokens the server did not report, counted as {} by their length",
                    usd_text(total.guessed_usd)));
  }
  if (spending.interrupted() > 0)
    lines.push_back(fmt::format("unknown: up to {} under way when the process was killed",
                                calls_text(spending.interrupted())));
  return lines;
}

}  // namespace kernelsmith::cli
