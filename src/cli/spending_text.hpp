// Describes the cost of calls, and unknown parts of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <kernelsmith/engine/spending.hpp>

namespace kernelsmith::cli {

/// The cost that counts against the budget: "0.0125 of 5 USD", or "price unknown" if no call has a price.
std::string money_text(const Spending& spending, const std::optional<double>& limit);

/// Such as "6 calls, 6000 tokens in (1000 cached), 600 out (50 reasoning)".
std::string tokens_text(const CallTotals& totals);

/// One line for each reason why the sum may be incomplete; empty if it is complete.
std::vector<std::string> unknown_costs(const Spending& spending);

}  // namespace kernelsmith::cli
