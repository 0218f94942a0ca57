// Any bytes as the header of a safetensors file: tensors that lie within the file, or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz.hpp"
#include "safetensors.hpp"

using namespace kernelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kRoom = 1000;
  const auto tensors =
      arena::parse_safetensors_header({reinterpret_cast<const char*>(data), size}, kRoom, "a.safetensors");
  if (!tensors) {
    require(tensors.error().where == "a.safetensors");
    return 0;
  }
  for (const auto& [name, tensor] : *tensors) require(tensor.begin <= tensor.end && tensor.end <= kRoom);
  return 0;
}
