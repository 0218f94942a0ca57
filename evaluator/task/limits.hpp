// The numbers that a task may hold, whether it comes from a task.yaml (task_file.cpp) or in a message
// (task_check.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith::task {

constexpr std::size_t kMaxShapes = 64;  ///< of `timed`, and of `check`
constexpr std::size_t kMaxTensors = 64;
constexpr Range<std::int64_t> kSizes = {1, std::int64_t{1} << 40};
constexpr Range<int> kThreads = {1, 1024};
constexpr Range<double> kTimeoutS = {0.01, 86400};

}  // namespace kernelsmith::task
