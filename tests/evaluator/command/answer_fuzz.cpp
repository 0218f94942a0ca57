// Any bytes that a candidate can get into an answer file give metrics of finite numbers, or an error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "answer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto metrics = kernelsmith::parse_answer({reinterpret_cast<const char*>(data), size});
  if (!metrics) return metrics.error().message.empty() ? std::abort(), 0 : 0;
  if (!std::isfinite(metrics->fitness().median)) std::abort();
  for (const auto& feature : metrics->features())
    if (!std::isfinite(feature.second)) std::abort();
  return 0;
}
