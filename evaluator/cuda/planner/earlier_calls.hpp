// EarlierCalls: the places of tensors in a planner's earlier calls, to detect addresses that were kept too
// long.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::cuda::planner {

class EarlierCalls {
 public:
  void add(std::span<const plan::Buffer> tensors) { calls_.emplace_back(tensors.begin(), tensors.end()); }

  /// Describes, for a refusal, the first use of an earlier call's tensor that is not one of `tensors`; empty
  /// if there is none. Ignores parameters of launches, because only the kernel knows their meaning.
  std::string kept_by(const plan::Call& call, std::span<const plan::Buffer> tensors) const;

 private:
  std::optional<std::string> holder(std::uint64_t address) const;

  std::vector<std::vector<plan::Buffer>> calls_;
};

}  // namespace kernelsmith::cuda::planner
