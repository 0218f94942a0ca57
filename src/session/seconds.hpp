// Durations in run.yaml, written in seconds.
#pragma once

#include <chrono>
#include <string_view>

#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith {

/// Replaces `duration` if `key` is there; from `least_s` to a day.
inline void read_seconds(YamlMap& in, std::string_view key, double least_s,
                         std::chrono::milliseconds& duration) {
  constexpr double kDayS = 86'400;
  double seconds = std::chrono::duration<double>(duration).count();
  in.optional(key, seconds, {least_s, kDayS});
  duration = std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(seconds * 1000));
}

}  // namespace kernelsmith
