// Finds the pause that a server asks for anywhere in its answer.
#pragma once

#include <chrono>
#include <optional>

#include "headers.hpp"
#include "wire.hpp"

namespace kernelsmith::llm {

/// Searches a whole document, including JSON quoted in its strings, for values named like a pause
/// (`retryDelay`, `retry_after`, `retry_after_ms`, also with headers' names), else for the time of a reset
/// (`X-RateLimit-Reset`, if `X-RateLimit-Remaining` beside it is no more than 0), else for sentences ("try
/// again in 6s"); returns the longest of several. An instant is relative to `now`.
std::optional<std::chrono::milliseconds> asked_pause(const Json& answer, WallClock now);

/// The same for the reset in headers, relative to their own Date.
std::optional<std::chrono::milliseconds> reset_pause(const Headers& headers, WallClock now);

}  // namespace kernelsmith::llm
