// Limits of numbers in a task from a task.yaml (task_file.cpp) or a message (task_check.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith::task {

constexpr std::size_t kMaxShapes = 64;  ///< number of `timed` shapes, and of `check` shapes
constexpr std::size_t kMaxTensors = 64;
constexpr Range<std::int64_t> kSizes = {1, std::int64_t{1} << 40};
constexpr Range<double> kWeights = {1e-6, 1e6};  ///< weights of timed shapes before normalisation
constexpr std::string_view kWeight = "weight";   ///< their key; no size may have this name
constexpr Range<int> kThreads = {1, 1024};
constexpr Range<double> kTimeoutS = {0.01, 86400};

}  // namespace kernelsmith::task
