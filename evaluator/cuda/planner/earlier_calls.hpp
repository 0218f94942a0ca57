// EarlierCalls: where the tensors of a planner's calls lay, to say that an address was kept too long.
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

  /// What the first use of an earlier call's tensor that is not one of these is called in a refusal; empty:
  /// there is none. It does not look at parameters of launches, because only the kernel knows what they mean.
  std::string kept_by(const plan::Call& call, std::span<const plan::Buffer> tensors) const;

 private:
  std::optional<std::string> holder(std::uint64_t address) const;

  std::vector<std::vector<plan::Buffer>> calls_;
};

}  // namespace kernelsmith::cuda::planner
