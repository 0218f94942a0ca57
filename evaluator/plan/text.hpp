// Words and numbers as messages and describe() write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::plan {

/// "0x7f00"
std::string hexadecimal(std::uint64_t number);

/// "1 byte", "2 bytes"
std::string counted(std::uint64_t count, std::string_view noun);

/// "4 x 2 x 1"
std::string text_of(const Dim3& dim);

/// "bfloat16" of a CUtensorMapDataType.
std::string_view element_name(std::uint32_t data_type);

}  // namespace kernelsmith::plan
