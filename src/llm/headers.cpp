#include "headers.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>

#include <curl/curl.h>

namespace kernelsmith::llm {
namespace {

using std::chrono::milliseconds;

/// The longest pause: a day, so that sums of pauses cannot overflow.
constexpr double kLongestSeconds = 86'400;

/// Larger numbers are not pauses but instants, in seconds or in milliseconds: no server asks for a pause of
/// 30 years.
constexpr double kSecondsOfEpoch = 1e9, kMillisecondsOfEpoch = 1e12;

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view value_of(const Headers& headers, std::string_view name) {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view{} : std::string_view(found->second);
}

/// Removes the number at the beginning of `text` and returns it.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

struct Limit {
  std::string_view remaining, reset;
};
constexpr Limit kDurations[] = {{"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
                                {"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"}};
constexpr Limit kInstants[] = {
    {"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"},
    {"anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"},
    {"anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"},
    {"anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"}};

}  // namespace

milliseconds from_seconds(double seconds) {
  return milliseconds(
      static_cast<milliseconds::rep>(std::ceil(std::clamp(seconds, 0.0, kLongestSeconds) * 1000)));
}

std::optional<double> whole_number(std::string_view text) {
  const auto number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

std::optional<milliseconds> duration(std::string_view text) {
  double seconds = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    std::size_t unit = 0;
    while (unit < text.size() && std::isalpha(static_cast<unsigned char>(text[unit]))) ++unit;
    const std::string_view name = text.substr(0, unit);
    text.remove_prefix(unit);
    if (name == "ms")
      seconds += *number / 1000;
    else if (name.empty() || name == "s")
      seconds += *number;
    else if (name == "m")
      seconds += *number * 60;
    else if (name == "h")
      seconds += *number * 3600;
    else
      return std::nullopt;
  }
  return from_seconds(seconds);
}

std::optional<double> http_date(std::string_view text) {
  const std::time_t time = curl_getdate(std::string(text).c_str(), nullptr);
  return time < 0 ? std::nullopt : std::optional(static_cast<double>(time));
}

std::optional<double> rfc3339(std::string_view text) {
  std::tm parts{}, zone{};
  const std::string copy(text);
  const char* rest = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (!rest) return std::nullopt;
  if (*rest == '.') rest += 1 + std::strspn(rest + 1, "0123456789");
  rest = strptime(rest, "%z", &zone);
  if (!rest || *rest != '\0') return std::nullopt;
  return static_cast<double>(timegm(&parts) - zone.tm_gmtoff);
}

double clock_of(const Headers& headers, WallClock now) {
  if (const auto date = http_date(value_of(headers, "date"))) return *date;
  return std::chrono::duration<double>(now.time_since_epoch()).count();
}

void add_header(Headers& headers, std::string_view line) {
  const auto colon = line.find(':');
  if (colon == line.npos) return;
  std::string name(trim(line.substr(0, colon)));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  headers.insert_or_assign(std::move(name), std::string(trim(line.substr(colon + 1))));
}

std::optional<milliseconds> retry_after(const Headers& headers, WallClock now) {
  if (const auto ms = whole_number(value_of(headers, "retry-after-ms"))) return from_seconds(*ms / 1000);
  const std::string_view value = value_of(headers, "retry-after");
  if (value.empty()) return std::nullopt;
  if (const auto seconds = whole_number(value)) return from_seconds(*seconds);
  if (const auto date = http_date(value)) return from_seconds(*date - clock_of(headers, now));
  return std::nullopt;
}

std::optional<milliseconds> rate_limit_pause(const Headers& headers, WallClock now) {
  std::optional<milliseconds> longest;
  const auto wait = [&](std::optional<milliseconds> pause) {
    if (pause) longest = std::max(longest.value_or(milliseconds{0}), *pause);
  };
  for (const Limit& limit : kDurations)
    if (whole_number(value_of(headers, limit.remaining)) == 0.0)
      wait(duration(value_of(headers, limit.reset)));
  for (const Limit& limit : kInstants) {
    if (whole_number(value_of(headers, limit.remaining)) != 0.0) continue;
    if (const auto instant = rfc3339(value_of(headers, limit.reset)))
      wait(from_seconds(*instant - clock_of(headers, now)));
  }
  return longest;
}

std::optional<milliseconds> reset_pause(const Headers& headers, WallClock now) {
  std::optional<milliseconds> pause;
  for (const auto& [name, value] : headers) {
    const auto number = whole_number(value);
    if (number && *number > 0 && name.ends_with("ratelimit-remaining")) return std::nullopt;
    if (!number || !name.ends_with("ratelimit-reset")) continue;
    if (*number < kSecondsOfEpoch)
      pause = from_seconds(*number);
    else
      pause =
          from_seconds((*number < kMillisecondsOfEpoch ? *number : *number / 1000) - clock_of(headers, now));
  }
  return pause;
}

bool has_rate_limits(const Headers& headers) {
  const auto known = [&](const Limit& limit) { return headers.contains(limit.remaining); };
  return std::ranges::any_of(kDurations, known) || std::ranges::any_of(kInstants, known);
}

}  // namespace kernelsmith::llm
