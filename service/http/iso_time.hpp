// The form of every time that is answered.
#pragma once

#include <chrono>
#include <string>

namespace kernelsmith::http {

/// "2026-01-31T12:00:00.123Z"
std::string iso_time(std::chrono::system_clock::time_point time);

}  // namespace kernelsmith::http
