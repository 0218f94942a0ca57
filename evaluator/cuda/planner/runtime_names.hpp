// A vendor's names of runtime functions, for refusals. Values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kernelsmith::cuda {

/// Functions with this `prefix` are `what`; the alternative is `instead`. In the texts `$` stands for
/// RuntimeNames::prefix.
struct Advice {
  std::string_view prefix, what, instead;
};

// Explanations that fit several libraries and drivers.
inline constexpr std::string_view kOwnKernel = "write it as a kernel of your own";
inline constexpr std::string_view kOwnProduct = "write the product as a kernel of your own";
inline constexpr std::string_view kOneDevice = "use one device";
inline constexpr std::string_view kCompileAhead = "compile the kernels with the candidate";
inline constexpr std::string_view kDeviceMemory =
    "use the tensors, $MallocAsync (for this call) or $Malloc (kept from call to call)";
inline constexpr std::string_view kOrder =
    "launch the kernels in order, with streams and events where they may overlap; the judge replays the call "
    "as a graph anyway";

struct RuntimeNames {
  std::string_view prefix;         ///< of the runtime's functions: "cuda"
  std::string_view driver_prefix;  ///< of a separate driver's functions: "cu"; may be empty
  /// Explanations for libraries and the driver, with complete prefixes.
  std::span<const Advice> others;
  /// Numbers of device attributes in DeviceFacts::attributes and in the runtime. Empty: the same numbers.
  std::span<const std::pair<int, int>> attributes;
};

/// Translates evaluator/plan's message about a call from CUDA's names to this runtime's.
std::string in_words_of(const RuntimeNames& names, std::string_view text);

}  // namespace kernelsmith::cuda
