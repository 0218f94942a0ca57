// Addresses: names for device addresses, in descriptions of a call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::plan {

/// The names of the workspace's two regions in descriptions.
inline constexpr const char* kKeptName = "workspace";
inline constexpr const char* kCallName = "call_workspace";

/// Keeps references to its arguments.
class Addresses {
 public:
  Addresses(const Call& call, std::span<const NamedBuffer> buffers, const Workspace& workspace)
      : call_(call), buffers_(buffers), workspace_(workspace) {}

  /// "x" or "x + 4096" if the address is in a buffer or in the used part of the workspace.
  std::optional<std::string> find(std::uint64_t address) const;

  /// The result of find(), or else the address as a number.
  std::string name(std::uint64_t address) const;

 private:
  const Call& call_;
  std::span<const NamedBuffer> buffers_;
  const Workspace& workspace_;
};

}  // namespace kernelsmith::plan
