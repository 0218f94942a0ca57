// The format of all times in answers.
#pragma once

#include <chrono>
#include <string>

namespace kernelsmith::http {

/// Such as "2026-01-31T12:00:00.123Z".
std::string iso_time(std::chrono::system_clock::time_point time);

}  // namespace kernelsmith::http
