// MachineCheck: the result of one check of `kernelsmith doctor`, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

enum class CheckStatus {
  ok,
  limited,  ///< works, but more slowly, at a lower tier, or with a gap in the checks
  missing,  ///< a part of kernelsmith, or the task, does not work
};
std::string_view name_of(CheckStatus status);

/// One check of the doctor.
struct MachineCheck {
  std::string name;  ///< such as "compiler"
  CheckStatus status = CheckStatus::ok;
  std::string detail;     ///< what was found
  std::string remedy;     ///< how to get what is missing; empty for `ok`
  bool required = false;  ///< no search works while this is missing
  bool helpful = false;   ///< the backend that asks for it evaluates candidates without it, too
};

/// A required check that failed with an error. The remedy is the error's hint, or else `remedy`.
MachineCheck failed_check(std::string name, Error error, std::string_view remedy = {});

}  // namespace kernelsmith
