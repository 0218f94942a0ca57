// Comparer: compares outputs and inputs on the device, in the judge's own context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/core/task.hpp>

#include "device/device.hpp"

namespace kernelsmith::cuda {

/// One comparison on the device.
struct Look {
  enum class Kind {
    within_weights,  ///< every element within its budget: |actual - expected| * weight <= 1
    same_bytes,      ///< the same bytes as `expected`
    untouched,       ///< only poison: a repeated 32-bit word, from its byte `phase` on
  };

  Kind kind = Kind::same_bytes;
  std::uint64_t actual = 0, expected = 0, weights = 0;  ///< on the device
  std::size_t bytes = 0;
  Dtype dtype = Dtype::f32;
  bool wide_weights = false;
  std::uint32_t poison = 0, phase = 0;
};

struct LookResult {
  bool suspect = false;           ///< something differs, or the processor must compare element by element
  double worst = 0, squares = 0;  ///< for within_weights, over elements that are not suspects
};

/// Not thread-safe.
class Comparer {
 public:
  /// `image` is the compiled judge_kernels.cu. Errors: unsupported.
  static Result<std::unique_ptr<Comparer>> create(Device& device, std::span<const std::byte> image);

  /// Returns the results in the order of `looks`.
  Result<std::vector<LookResult>> look(std::span<const Look> looks);

 private:
  explicit Comparer(Device& device) : device_(device) {}
  Status make_room(std::size_t looks);
  Result<Device::Launch> launch_for(const Look& look, std::uint64_t found);

  Device& device_;
  std::map<std::string, std::uint64_t> functions_;
  PrivateMemory found_;
};

}  // namespace kernelsmith::cuda
