// ElfFile: the sections and symbols of a 64-bit little-endian ELF file, parsed as untrusted data: nothing
// outside the given bytes is accessed, and a name or section that is not inside them is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

using ByteSpan = std::span<const std::byte>;

/// The little-endian number of type T at `at`; empty if the number is not inside the bytes.
template <class T>
std::optional<T> number_at(ByteSpan bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t size = 0;  ///< the section's size when it is loaded
  ByteSpan bytes;          ///< empty for a section that has none in the file (NOBITS)
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t type = 0;  ///< STT_FUNC is 2, STT_OBJECT is 1
  std::uint8_t other = 0;
  std::uint16_t section = 0;
};

/// Views of the parsed bytes. A value.
struct ElfFile {
  std::uint8_t abi_version = 0;
  std::uint16_t type = 0, machine = 0;
  std::uint32_t flags = 0;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;  ///< by their index in .symtab
};

/// Errors: bad_input.
Result<ElfFile> read_elf(ByteSpan bytes);

}  // namespace kernelsmith::cuda
