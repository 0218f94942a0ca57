#include "text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include <kernelsmith/session/run_view.hpp>

namespace kernelsmith::cli {
namespace {

/// Replaces `begin` by `by` at the beginning of each word of `text`; words are separated by white space.
std::string with_words_begun(std::string text, const std::string& begin, const std::string& by) {
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    if (at > 0 && std::isspace(static_cast<unsigned char>(text[at - 1])) == 0) {
      ++at;
      continue;
    }
    text.replace(at, begin.size(), by);
    at += by.size();
  }
  return text;
}

}  // namespace

std::string cut_lines(std::string_view text, std::size_t columns) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    std::size_t characters = 0, kept = 0;  // kept: the bytes before the dots
    for (std::size_t i = 0; i < line.size() && line[i] != '\n'; ++i) {
      if ((static_cast<unsigned char>(line[i]) & 0xC0) == 0x80) continue;  // continues a character
      if (++characters == columns - 1) kept = i;
    }
    if (characters > columns)
      out.append(line.substr(0, kept)).append(line.ends_with('\n') ? "..\n" : "..");
    else
      out += line;
  }
  return out;
}

std::string wrapped(std::string_view text, std::string_view indent, std::size_t columns) {
  std::string out;
  std::size_t used = 0;  // of the present line
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    if (used > 0 && used + 1 + word.size() > columns) {
      out += '\n';
      used = 0;
    }
    const std::string_view before = used > 0 ? " " : indent;
    out.append(before).append(word);
    used += before.size() + word.size();
    text.remove_prefix(word.size());
    if (text.empty()) break;
    if (text.front() == '\n') {
      out += '\n';
      used = 0;
    }
    text.remove_prefix(1);
  }
  return out;
}

std::string number_text(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string demotion_text(const Individual& demoted) {
  constexpr std::size_t kShownDetail = 300;
  const Rejection& why = *demoted.evaluation.rejection();
  std::string detail = why.diagnostics.substr(0, kShownDetail);
  while (detail.ends_with('\n')) detail.pop_back();
  std::ranges::replace(detail, '\n', ' ');
  return fmt::format("program {} is now rejected: when measured again, it failed at {} ({}): {}",
                     demoted.program->id.value, name_of(why.stage), name_of(why.code), detail);
}

namespace {

std::string bytes_text(double bytes) {
  constexpr double kStep = 1024;
  std::size_t unit = 0;
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  for (; bytes >= kStep && unit + 1 < kUnits.size(); ++unit) bytes /= kStep;
  return fmt::format("{} {}", short_number(bytes), kUnits[unit]);
}

}  // namespace

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 100 && size < 1e7) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

std::string costs_text(const Metrics& metrics) {
  const auto& features = metrics.features();
  std::string text;
  if (const auto found = features.find(kCompileMs); found != features.end())
    text = fmt::format("compiled in {} ms", short_number(found->second));
  if (const auto found = features.find(kPeakMemory); found != features.end())
    text += fmt::format("{}{} of device memory", text.empty() ? "" : ", ", bytes_text(found->second));
  return text;
}

std::string weight_text(const ShapeResult& shape) {
  return shape.weight ? fmt::format("  {} % of the score", short_number(100 * *shape.weight)) : "";
}

std::string naming_given_file(std::string text, const Source& candidate, const std::string& given) {
  if (candidate.files().size() != 1) return text;
  const std::string& name = candidate.files().front().path;
  for (const char mark : {':', '('})  // nvcc: "seed.cu(3): error"
    for (const std::string& written : {"source/" + name + mark, name + mark})
      text = with_words_begun(std::move(text), written, given + mark);
  return text;
}

std::string text_of(const Measurement& measurement) {
  const std::string unit =
      measurement.unit == "x" || measurement.unit.empty() ? measurement.unit : " " + measurement.unit;
  // A ratio close to one needs decimals; other quantities need leading digits.
  const auto number = [&](double value) {
    const bool near_one = std::abs(value) >= 0.095 && std::abs(value) < 1000;
    return measurement.unit == "x" && near_one    ? fmt::format("{:.2f}", value)
           : measurement.unit == "x" && value < 1 ? fmt::format("{:.2g}", value)
           : measurement.unit.empty()             ? fmt::format("{:.6g}", value)
                                                  : short_number(value);
  };
  std::string text = number(measurement.median) + unit;
  if (measurement.low < measurement.high)
    text += fmt::format(" [{}, {}]", number(measurement.low), number(measurement.high));
  return text;
}

std::string score_text(const Evaluation& accepted) {
  const Measurement score = score_of(accepted);
  return (score.unit == "x" ? "" : "fitness ") + text_of(score);
}

std::string clock_text(double seconds) {
  const auto total = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  const auto hours = total / 3600, minutes = total / 60 % 60, rest = total % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, rest);
  return fmt::format("{}:{:02}", minutes, rest);
}

std::string confirming_text(double seconds) {
  return seconds < 1 ? "" : fmt::format(", and {} measuring the best again", clock_text(seconds));
}

Result<double> parse_duration(std::string_view text, std::string_view option) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc{} || scale == 0 || !std::isfinite(number) || number <= 0)
    return fail(ErrorCode::invalid_argument, fmt::format("\"{}\" is not a duration", text),
                std::string(option),
                "write a positive number of seconds, or a number with s, m or h: 90, 90s, 1.5m, 2h");
  return number * scale;
}

std::string expected_text(const ExpectedGain& expected) {
  // Larger estimates are not shown exactly: after few evaluations an estimate mostly extrapolates the prior.
  constexpr double kMostTold = 100;
  return fmt::format("going by the gains so far, the next {} would add {}",
                     number_text(expected.evaluations, "evaluation"),
                     expected.percent > kMostTold ? "over 100 %" : short_number(expected.percent) + " %");
}

std::string usd_text(double usd, const std::optional<double>& limit) {
  const std::string spent =
      usd > 0 && usd < 0.00995 ? fmt::format("{:.2g}", usd) : fmt::format("{:.4f}", usd);
  return limit ? fmt::format("{} of {:g} USD", spent, *limit) : spent + " USD";
}

namespace {

std::string part_of(std::uint64_t tokens, const char* what) {
  return tokens > 0 ? fmt::format(" ({} {})", tokens, what) : "";
}

std::string calls_text(std::uint64_t calls) { return number_text(calls, "call"); }

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
        fmt::format("unknown: texts whose tokens the server did not report; their length counts as {}",
                    usd_text(total.guessed_usd)));
  }
  if (spending.interrupted() > 0)
    lines.push_back(fmt::format("unknown: up to {} under way when the process was killed",
                                calls_text(spending.interrupted())));
  return lines;
}

}  // namespace kernelsmith::cli
