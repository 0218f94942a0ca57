// Formats numbers and words for people, and parses durations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/metrics.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/engine/expected_gain.hpp>
#include <kernelsmith/engine/spending.hpp>

namespace kernelsmith::cli {

/// Text such as "2.41x [2.38, 2.44]"; omits an interval without width.
std::string text_of(const Measurement& measurement);

/// score_of() in words: "2.41x [2.38, 2.44]", or "fitness 24".
std::string score_text(const Evaluation& accepted);

/// A time such as "0:42", "12:05" or "3:00:00".
std::string clock_text(double seconds);

/// Parses "90", "90s", "1.5m" or "2h", the value of `option`, as seconds. Errors: invalid_argument.
Result<double> parse_duration(std::string_view text, std::string_view option);

/// A text such as "going by the gains so far, the next 120 evaluations would add 1.3 %".
std::string expected_text(const ExpectedGain& expected);

/// An amount such as "0.0125 USD" or "0.0125 of 5 USD".
std::string usd_text(double usd, const std::optional<double>& limit = {});

/// Text such as ", and 0:17 measuring the best again"; empty for less than a second.
std::string confirming_text(double seconds);

/// A number with its noun, such as "1 call" or "2 calls".
std::string number_text(std::uint64_t count, std::string_view what);

/// The assumed width of a terminal in characters.
constexpr std::size_t kColumns = 100;

/// The text with each line cut to `columns` characters; a line that was cut ends with "..".
std::string cut_lines(std::string_view text, std::size_t columns = kColumns);

/// The text with a line break in place of a blank where a line would exceed `columns` bytes; `indent` begins
/// every line.
std::string wrapped(std::string_view text, std::string_view indent, std::size_t columns = kColumns);

/// A sentence about a former best program that was rejected when it was measured again.
std::string demotion_text(const Individual& demoted);

/// Three significant digits, usually without an exponent: "0.123", "12.3", "4510".
std::string short_number(double value);

/// " 60 % of the score" for a shape with a weight, else empty.
std::string weight_text(const ShapeResult& shape);

/// Costs such as "compiled in 812 ms, 1.2 GiB of device memory", as far as they are known; may be empty.
std::string costs_text(const Metrics& metrics);

/// Replaces the seed's file name in messages of tools (NAME:LINE) by the name that the user gave, because a
/// candidate of one file is compiled under the seed's name. Leaves other text unchanged.
std::string naming_given_file(std::string text, const Source& candidate, const std::string& given);

/// The money that counts against the budget, such as "0.0125 of 5 USD"; "price unknown" if calls have no
/// price.
std::string money_text(const Spending& spending, const std::optional<double>& limit);

/// A text such as "6 calls, 6000 tokens in (1000 cached), 600 out (50 reasoning)".
std::string tokens_text(const CallTotals& totals);

/// One line for each reason why the known cost may be incomplete.
std::vector<std::string> unknown_costs(const Spending& spending);

}  // namespace kernelsmith::cli
