#include "toolchain/elf_file.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <elf.h>

namespace kernelsmith::cuda {
namespace {

/// The limit of sections, and of symbols: each kernel has some, and a plan has at most 4096 kernels.
constexpr std::size_t kMostEntries = 1U << 18;
/// The longest name: a kernel's (plan::kMaxName) with a section's prefix. It limits the time for reading
/// names.
constexpr std::size_t kMostNameBytes = 8192;

Error damaged(const std::string& what) { return fail(ErrorCode::bad_input, "damaged ELF file: " + what); }

/// Returns empty if the range is not inside.
std::optional<ByteSpan> part(ByteSpan bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

/// The string that begins at `at` and ends with a zero byte inside the table.
std::optional<std::string_view> string_at(ByteSpan table, std::uint64_t at) {
  if (at >= table.size()) return std::nullopt;
  const char* const begin = reinterpret_cast<const char*>(table.data()) + at;
  const void* const end = std::memchr(begin, 0, std::min(table.size() - at, kMostNameBytes));
  if (end == nullptr) return std::nullopt;
  return std::string_view(begin, static_cast<const char*>(end));
}

Result<std::vector<Elf64_Shdr>> section_headers(ByteSpan bytes, const Elf64_Ehdr& header) {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return damaged("section headers of another size");
  std::size_t count = header.e_shnum;
  // If e_shnum is too small for the number of sections, it is in the first section.
  const auto first = number_at<Elf64_Shdr>(bytes, header.e_shoff);
  if (!first) return damaged("section headers past the end");
  if (count == 0) count = first->sh_size;
  if (count > kMostEntries) return damaged("too many sections");
  std::vector<Elf64_Shdr> headers;
  headers.reserve(std::min(count, bytes.size() / sizeof(Elf64_Shdr)));
  for (std::size_t i = 0; i < count; ++i) {
    const auto section = number_at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return damaged("section headers past the end");
    headers.push_back(*section);
  }
  return headers;
}

Result<std::vector<ElfSection>> sections_of(ByteSpan bytes, const std::vector<Elf64_Shdr>& headers,
                                            std::size_t names_index) {
  if (names_index == SHN_XINDEX && !headers.empty()) names_index = headers.front().sh_link;
  if (names_index >= headers.size()) return damaged("no section names");
  const auto names = part(bytes, headers[names_index].sh_offset, headers[names_index].sh_size);
  if (!names) return damaged("section names past the end");
  std::vector<ElfSection> sections;
  sections.reserve(headers.size());
  for (const Elf64_Shdr& header : headers) {
    const auto name = string_at(*names, header.sh_name);
    if (!name) return damaged("a section's name");
    const bool in_file = header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL;
    const auto content = in_file ? part(bytes, header.sh_offset, header.sh_size) : ByteSpan();
    if (!content) return damaged("section '" + std::string(*name) + "' past the end");
    sections.push_back({*name, header.sh_type, header.sh_size, *content});
  }
  return sections;
}

Result<std::vector<ElfSymbol>> symbols_of(const std::vector<Elf64_Shdr>& headers,
                                          const std::vector<ElfSection>& sections) {
  std::vector<ElfSymbol> symbols;
  const auto table =
      std::ranges::find_if(headers, [](const Elf64_Shdr& h) { return h.sh_type == SHT_SYMTAB; });
  if (table == headers.end()) return symbols;
  const ByteSpan bytes = sections[static_cast<std::size_t>(table - headers.begin())].bytes;
  const std::size_t count = bytes.size() / sizeof(Elf64_Sym);
  if (table->sh_link >= sections.size() || count > kMostEntries) return damaged("the symbol table");
  const ByteSpan names = sections[table->sh_link].bytes;
  symbols.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto symbol = number_at<Elf64_Sym>(bytes, i * sizeof(Elf64_Sym));
    const auto name = string_at(names, symbol->st_name);
    if (!name) return damaged("a symbol's name");
    symbols.push_back(
        {*name, static_cast<std::uint8_t>(symbol->st_info & 0xfU), symbol->st_other, symbol->st_shndx});
  }
  return symbols;
}

}  // namespace

Result<ElfFile> read_elf(ByteSpan bytes) {
  constexpr std::array<unsigned char, 6> kMagic = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
  const auto header = number_at<Elf64_Ehdr>(bytes, 0);
  if (!header || !std::equal(kMagic.begin(), kMagic.end(), header->e_ident))
    return fail(ErrorCode::bad_input, "not a 64-bit ELF file");
  const auto headers = section_headers(bytes, *header);
  if (!headers) return headers.error();
  auto sections = sections_of(bytes, *headers, header->e_shstrndx);
  if (!sections) return sections.error();
  auto symbols = symbols_of(*headers, *sections);
  if (!symbols) return symbols.error();
  return ElfFile{header->e_ident[EI_ABIVERSION], header->e_type,     header->e_machine, header->e_flags,
                 std::move(*sections),           std::move(*symbols)};
}

}  // namespace kernelsmith::cuda
