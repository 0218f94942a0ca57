// Retry times in response headers.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith::llm {

/// Headers by lower-case name. If a header is repeated, the last one counts.
using Headers = std::map<std::string, std::string, std::less<>>;

/// Adds the header of a line "Name: value"; ignores other lines.
void add_header(Headers& headers, std::string_view line);

using WallClock = std::chrono::system_clock::time_point;

/// The pause in `retry-after-ms`, or in `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3).
/// Because clocks may differ, a date is relative to the server's own Date if it sent one, else to `now`.
/// Never negative.
std::optional<std::chrono::milliseconds> retry_after(const Headers& headers, WallClock now);

/// The time until the next call if the headers say that no requests or tokens are left: OpenAI's
/// x-ratelimit-* ("6m0s", "20ms") and Anthropic's anthropic-ratelimit-* (RFC 3339).
std::optional<std::chrono::milliseconds> rate_limit_pause(const Headers& headers, WallClock now);

/// The time until the reset that `X-RateLimit-Reset` or `RateLimit-Reset` names, in seconds from now or as an
/// instant in seconds or milliseconds. Empty if the matching `Remaining` header says that calls are left.
std::optional<std::chrono::milliseconds> reset_pause(const Headers& headers, WallClock now);

/// Converts seconds, limited to between zero and a day, so that sums cannot overflow.
std::chrono::milliseconds from_seconds(double seconds);

/// Parses a text that is only a non-negative number.
std::optional<double> whole_number(std::string_view text);

/// Parses "6m0s", "1h2m3.5s", "20ms", or plain seconds.
std::optional<std::chrono::milliseconds> duration(std::string_view text);

/// Parse an HTTP date, or a date such as "2025-01-02T03:04:05Z" that may have a fraction or an offset. Return
/// seconds since the epoch.
std::optional<double> http_date(std::string_view text);
std::optional<double> rfc3339(std::string_view text);

/// The present time in seconds since the epoch, by the server's clock if the server sends it.
double clock_of(const Headers& headers, WallClock now);

/// Whether the server sends its rate limits at all.
bool has_rate_limits(const Headers& headers);

}  // namespace kernelsmith::llm
