// What response headers say about when to come back.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith::llm {

/// By lower-case name; of repeated ones the last.
using Headers = std::map<std::string, std::string, std::less<>>;

/// Adds the header of one line, "Name: value"; other lines are ignored.
void add_header(Headers& headers, std::string_view line);

using WallClock = std::chrono::system_clock::time_point;

/// `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3). A date counts from
/// the server's own Date if it sent one, so that clocks may differ, and else from `now`. Never negative.
std::optional<std::chrono::milliseconds> retry_after(const Headers& headers, WallClock now);

/// How long to wait before the next call because the headers say that nothing is left, of requests or of
/// tokens: OpenAI's x-ratelimit-* ("6m0s", "20ms") and Anthropic's anthropic-ratelimit-* (RFC 3339).
std::optional<std::chrono::milliseconds> rate_limit_pause(const Headers& headers, WallClock now);

/// Until the reset that `X-RateLimit-Reset` or `RateLimit-Reset` names, in seconds from now or as an instant
/// in seconds or milliseconds; nothing if the `Remaining` beside it says that something is left.
std::optional<std::chrono::milliseconds> reset_pause(const Headers& headers, WallClock now);

/// At least nothing, and at most a day, so that sums of it cannot overflow.
std::chrono::milliseconds from_seconds(double seconds);

/// A text that is a number, none below zero, and nothing else.
std::optional<double> whole_number(std::string_view text);

/// "6m0s", "1h2m3.5s", "20ms", or plain seconds.
std::optional<std::chrono::milliseconds> duration(std::string_view text);

/// Seconds since the epoch of a date as HTTP writes it, and of "2025-01-02T03:04:05Z", with or without a
/// fraction, or with an offset.
std::optional<double> http_date(std::string_view text);
std::optional<double> rfc3339(std::string_view text);

/// Seconds since the epoch, by the server's clock if it is sent.
double clock_of(const Headers& headers, WallClock now);

/// True if the server sends its rate limits at all.
bool has_rate_limits(const Headers& headers);

}  // namespace kernelsmith::llm
