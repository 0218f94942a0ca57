// The pause that a server asks for, wherever in its answer it says so.
#pragma once

#include <chrono>
#include <optional>

#include "headers.hpp"
#include "wire.hpp"

namespace kernelsmith::llm {

/// Looks through a whole document, also in JSON that is quoted in its strings, for values named like a pause
/// (`retryDelay`, `retry_after`, `retry_after_ms`, also with headers' names), else for the time of a reset
/// (`X-RateLimit-Reset`, if `X-RateLimit-Remaining` beside it is no more than 0), else for sentences ("try
/// again in 6s"); of several the longest. An instant counts from `now`.
std::optional<std::chrono::milliseconds> asked_pause(const Json& answer, WallClock now);

/// Until the reset that headers name likewise; their own Date is the clock.
std::optional<std::chrono::milliseconds> reset_pause(const Headers& headers, WallClock now);

}  // namespace kernelsmith::llm
