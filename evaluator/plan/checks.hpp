// The parts of check(), each on one subject. What they say is in the candidate's terms; check() adds which
// operation it is about.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::plan {

/// Something that CUDA or a plan does not allow, without saying where.
inline Error refuse(std::string message, std::string hint) {
  return fail(ErrorCode::bad_input, std::move(message), {}, std::move(hint));
}

/// What a call does with memory: a tensor map may serve for both.
enum class Access { reads, writes, covers };

/// The device memory that a call may name. Refers to what it is made of.
class Places {
 public:
  Places(const Call& call, std::span<const Buffer> buffers, const Workspace& workspace)
      : call_(call), buffers_(buffers), workspace_(workspace) {}

  /// Whether `bytes` bytes lie in one tensor, which may be written where they are, or in the used part of one
  /// workspace. No bytes lie anywhere.
  Status allow(Access access, std::uint64_t address, std::uint64_t bytes) const;

 private:
  Status allow_in_workspace(const std::string& what, std::uint64_t address, std::uint64_t bytes) const;

  const Call& call_;
  std::span<const Buffer> buffers_;
  const Workspace& workspace_;
};

/// Whether the two regions hold what the call has of them.
Status check_workspace(const Call& call, const Workspace& workspace);

inline constexpr std::size_t kTensorMapBytes = 128;  ///< sizeof(CUtensorMap)

/// The arguments of cuTensorMapEncodeTiled: their ranges, and that the tensor lies in memory of the call.
Status check_tensor_map(const TensorMap& map, const Places& places);

/// That every stream was forked from stream 0 and joins it again, and that no wait is for an event that this
/// call did not record. Its errors say where.
Status check_streams(std::span<const Operation> operations);

/// "operation 3" (as describe() counts), with what it is if `what` is given.
std::string operation_name(std::size_t index, std::string_view what = {});

}  // namespace kernelsmith::plan
