// MachineCheck: one thing that `kernelsmith doctor` tried, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

enum class CheckStatus {
  ok,
  limited,  ///< works, with less speed, a lower tier, or something that could go unnoticed
  missing,  ///< a part of kernelsmith, or the task, does not work
};
std::string_view name_of(CheckStatus status);

/// One thing that the doctor looked at.
struct MachineCheck {
  std::string name;  ///< such as "compiler"
  CheckStatus status = CheckStatus::ok;
  std::string detail;     ///< what was found
  std::string remedy;     ///< how to get what lacks; empty for `ok`
  bool required = false;  ///< no kernel can be searched for while it is missing
};

/// A required check that ended with an error; its hint, or else `remedy`, says what to do.
MachineCheck failed_check(std::string name, Error error, std::string_view remedy = {});

}  // namespace kernelsmith
