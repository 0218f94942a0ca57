// How a vendor's runtime names its functions, for the words of a refusal. Values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kernelsmith::cuda {

/// Functions that begin with `prefix` are `what`; do `instead`. In the texts `$` stands for
/// RuntimeNames::prefix.
struct Advice {
  std::string_view prefix, what, instead;
};

struct RuntimeNames {
  std::string_view prefix;         ///< of the runtime's functions: "cuda"
  std::string_view driver_prefix;  ///< of a driver's apart from it: "cu"; may be empty
  /// Of libraries and of the driver; the prefixes are whole.
  std::span<const Advice> others;
  /// What a device is asked for, as DeviceFacts::attributes counts and as the runtime does. Empty: the same
  /// numbers.
  std::span<const std::pair<int, int>> attributes;
};

/// What evaluator/plan says of a call, which it says in CUDA's names, in this runtime's.
std::string in_words_of(const RuntimeNames& names, std::string_view text);

}  // namespace kernelsmith::cuda
