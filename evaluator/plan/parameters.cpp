#include "plan/parameters.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <span>

#include "plan/checks.hpp"
#include "plan/text.hpp"

namespace kernelsmith::plan {
namespace {

constexpr std::size_t kMaxShownParameters = 32, kMaxShownParts = 12;  ///< keeps a line readable

using Bytes = std::span<const std::byte>;

std::uint64_t little_endian(Bytes bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

/// Sizes and counts are small integers, whose bits are denormal as floats. Usual floats are in this range.
bool is_plausible(double value) {
  const double magnitude = std::fabs(value);
  return std::isfinite(value) && magnitude >= 1e-8 && magnitude <= 1e9;
}

/// Such as " (0.5f)".
std::string real(double value, const char* suffix) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  const bool whole = std::string_view(text).find_first_of(".en") == std::string_view::npos;
  return " (" + std::string(text) + (whole ? ".0" : "") + suffix + ")";
}

std::string number_of_4(Bytes bytes) {
  const auto bits = static_cast<std::uint32_t>(little_endian(bytes));
  const auto value = static_cast<double>(std::bit_cast<float>(bits));
  return std::to_string(static_cast<std::int32_t>(bits)) + (is_plausible(value) ? real(value, "f") : "");
}

std::string number_of_8(Bytes bytes) {
  const std::uint64_t bits = little_endian(bytes);
  const auto value = std::bit_cast<double>(bits);
  return std::to_string(static_cast<std::int64_t>(bits)) + (is_plausible(value) ? real(value, "") : "");
}

std::string number_of(Bytes bytes) {
  if (bytes.size() == 8) return number_of_8(bytes);
  if (bytes.size() == 4) return number_of_4(bytes);
  return std::to_string(little_endian(bytes));
}

/// Describes one parameter, part by part: tensor maps, addresses, then what is left in units of at most 4
/// bytes.
class ParameterReader {
 public:
  ParameterReader(const Launch& launch, const Addresses& addresses, std::size_t begin, std::size_t end)
      : launch_(launch), addresses_(addresses), at_(begin), end_(end) {}

  std::string read() {
    const std::size_t size = end_ - at_;
    if (size == 0) return "nothing";
    if (size == 1 || size == 2 || size == 4 || size == 8) return scalar(size);
    if (map_here() && size == kTensorMapBytes) return part();
    std::string text;
    for (std::size_t shown = 0; at_ < end_ && shown < kMaxShownParts; ++shown)
      text += (shown == 0 ? "" : ", ") + part();
    if (at_ < end_) text += ", " + counted(end_ - at_, "byte") + " more";
    return "{" + text + "}";
  }

 private:
  Bytes take(std::size_t count) {
    const Bytes taken = Bytes(launch_.parameters).subspan(at_, count);
    at_ += count;
    return taken;
  }

  std::optional<std::uint32_t> map_here() const {
    for (const TensorMapUse& use : launch_.tensor_maps)
      if (use.offset == at_ && end_ - at_ >= kTensorMapBytes) return use.map;
    return std::nullopt;
  }

  std::string scalar(std::size_t size) {
    const Bytes bytes = take(size);
    const auto address = size == 8 ? addresses_.find(little_endian(bytes)) : std::nullopt;
    return address ? *address : number_of(bytes);
  }

  std::string part() {
    const std::size_t left = end_ - at_;
    if (const auto map = map_here()) {
      take(kTensorMapBytes);
      return "tensor map " + std::to_string(*map);
    }
    if (left >= 8 && addresses_.find(little_endian(Bytes(launch_.parameters).subspan(at_, 8))))
      return scalar(8);
    return scalar(std::min<std::size_t>(left, left == 3 ? 2 : 4));
  }

  const Launch& launch_;
  const Addresses& addresses_;
  std::size_t at_, end_;
};

}  // namespace

std::string describe_parameters(const Launch& launch, const Kernel& kernel, const Addresses& addresses) {
  const std::size_t shown = std::min(kernel.parameters.size(), kMaxShownParameters);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const Parameter& parameter = kernel.parameters[i];
    const std::uint64_t end = std::uint64_t{parameter.offset} + parameter.size;
    text += i == 0 ? "" : ", ";
    text += end <= launch.parameters.size() ? ParameterReader(launch, addresses, parameter.offset, end).read()
                                            : "missing";
  }
  if (shown < kernel.parameters.size())
    text += ", " + std::to_string(kernel.parameters.size() - shown) + " more";
  return "(" + text + ")";
}

}  // namespace kernelsmith::plan
