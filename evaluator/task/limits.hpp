// The numbers that a task may hold, whether it comes from a task.yaml (task_file.cpp) or in a message
// (task_check.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith::task {

constexpr std::size_t kMaxShapes = 64;  ///< of `timed`, and of `check`
constexpr std::size_t kMaxTensors = 64;
constexpr Range<std::int64_t> kSizes = {1, std::int64_t{1} << 40};
constexpr Range<double> kWeights = {1e-6, 1e6};  ///< of timed shapes, before they are normalised
constexpr std::string_view kWeight = "weight";   ///< their key, and therefore no size's name
constexpr Range<int> kThreads = {1, 1024};
constexpr Range<double> kTimeoutS = {0.01, 86400};

}  // namespace kernelsmith::task
