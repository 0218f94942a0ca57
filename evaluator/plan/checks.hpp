// The parts of check(), each for one subject. Messages use the candidate's terms; check() adds the operation.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <kernelsmith/core/result.hpp>
#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::plan {

/// The Error for a violation of CUDA's or a plan's rules, without the place.
inline Error refuse(std::string message, std::string hint) {
  return fail(ErrorCode::bad_input, std::move(message), {}, std::move(hint));
}

/// How a call accesses memory. `covers` is for a tensor map, by which a kernel may read and write.
enum class Access { reads, writes, covers };

/// The device memory that a call may use. Keeps references to its arguments.
class Places {
 public:
  Places(const Call& call, std::span<const Buffer> buffers, const Workspace& workspace)
      : call_(call), buffers_(buffers), workspace_(workspace) {}

  /// Checks that `bytes` bytes are in one tensor (a writable one if they are written) or in the used part of
  /// one workspace. Zero bytes are valid anywhere.
  Status allow(Access access, std::uint64_t address, std::uint64_t bytes) const;

 private:
  Status allow_in_workspace(const std::string& what, std::uint64_t address, std::uint64_t bytes) const;

  const Call& call_;
  std::span<const Buffer> buffers_;
  const Workspace& workspace_;
};

/// Checks that the two regions are large enough for the call.
Status check_workspace(const Call& call, const Workspace& workspace);

inline constexpr std::size_t kTensorMapBytes = 128;  ///< sizeof(CUtensorMap)

/// Checks the arguments of cuTensorMapEncodeTiled: their ranges, and that the tensor is in the call's memory.
Status check_tensor_map(const TensorMap& map, const Places& places);

/// Checks that every stream was forked from stream 0 and joins it again, and that every wait is for an event
/// recorded in this call. Errors name the place.
Status check_streams(std::span<const Operation> operations);

/// "operation 3" (with describe()'s number), with its kind if `what` is given.
std::string operation_name(std::size_t index, std::string_view what = {});

}  // namespace kernelsmith::plan
