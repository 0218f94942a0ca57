// Formats words and numbers for messages and describe().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <kernelsmith/evaluator/plan.hpp>

namespace kernelsmith::plan {

/// Such as "0x7f00".
std::string hexadecimal(std::uint64_t number);

/// Such as "1 byte" or "2 bytes".
std::string counted(std::uint64_t count, std::string_view noun);

/// Such as "4 x 2 x 1".
std::string text_of(const Dim3& dim);

/// The name of a CUtensorMapDataType, such as "bfloat16".
std::string_view element_name(std::uint32_t data_type);

}  // namespace kernelsmith::plan
