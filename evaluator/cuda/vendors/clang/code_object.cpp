#include "vendors/clang/code_object.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <elf.h>
#include <nlohmann/json.hpp>

#include "toolchain/elf_file.hpp"

namespace kernelsmith::cuda {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::uint64_t kMostTargets = 64;         // targets of a bundle
constexpr std::size_t kMostNesting = 16;           // levels in a note; a kernel's parameters take four
constexpr std::size_t kMostNoteBytes = 16U << 20;  // thousands of kernels take some megabytes
/// The assumed stack of a thread if the compiler cannot determine its size.
constexpr std::uint32_t kStackIfUnknown = 1024;

Error no_image(const std::string& what) { return fail(ErrorCode::bad_input, "not a device image: " + what); }

bool begins_with(ByteSpan bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

/// Stops the recursive reader if values are nested deeper than in any real note.
class DepthLimit final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kMostNesting; }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t) override { return ++depth_ <= kMostNesting; }
  bool end_array() override { return --depth_, true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  std::size_t depth_ = 0;
};

std::optional<Json> message_pack(ByteSpan bytes) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto* const end = begin + bytes.size();
  DepthLimit limit;
  if (bytes.size() > kMostNoteBytes ||
      !Json::sax_parse(begin, end, &limit, nlohmann::detail::input_format_t::msgpack))
    return std::nullopt;
  Json read = Json::from_msgpack(begin, end, true, false);
  if (!read.is_object()) return std::nullopt;
  return read;
}

/// The description of the first note of that owner and type.
std::optional<ByteSpan> find_note(ByteSpan notes, const CodeObjectFormat& format) {
  const auto rounded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  while (notes.size() >= 12) {
    const std::uint64_t name = *number_at<std::uint32_t>(notes, 0);
    const std::uint64_t size = *number_at<std::uint32_t>(notes, 4);
    const std::uint32_t type = *number_at<std::uint32_t>(notes, 8);
    notes = notes.subspan(12);
    if (rounded(name) > notes.size() || size > notes.size() - rounded(name)) return std::nullopt;
    const std::string_view owner(reinterpret_cast<const char*>(notes.data()), name);
    if (type == format.note_type && owner.substr(0, owner.find('\0')) == format.note_owner)
      return notes.subspan(rounded(name), size);
    notes = notes.subspan(std::min<std::uint64_t>(rounded(name) + rounded(size), notes.size()));
  }
  return std::nullopt;
}

std::optional<std::uint32_t> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<std::uint64_t>();
  if (value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

/// Returns false if a parameter is damaged, there are too many, or two overlap.
bool read_parameters(const Json& given, const CodeObjectFormat& format, std::vector<plan::Parameter>& kept) {
  std::uint64_t end = 0;
  for (const Json& one : given) {
    if (!one.is_object()) return false;
    const auto kind = one.find(format.kind);
    if (kind == one.end() || !kind->is_string()) return false;
    if (kind->get_ref<const std::string&>().starts_with("hidden_")) continue;
    const auto offset = number(one, format.offset), size = number(one, format.size);
    if (!offset || !size || *size == 0 || *offset < end) return false;
    end = std::uint64_t{*offset} + *size;
    if (end > plan::kMaxParameterBytes || kept.size() == plan::kMaxParameters) return false;
    kept.push_back({*offset, *size});
  }
  return true;
}

Result<KernelFacts> read_kernel(const Json& given, const CodeObjectFormat& format) {
  if (!given.is_object()) return no_image("the list of its kernels is damaged");
  const auto name = given.find(".name");
  if (name == given.end() || !name->is_string()) return no_image("a kernel without a name");
  KernelFacts facts;
  facts.kernel.name = name->get<std::string>();
  if (facts.kernel.name.empty() || facts.kernel.name.size() > plan::kMaxName)
    return no_image("a kernel's name is too long");
  const auto arguments = given.find(".args");
  if (arguments != given.end() &&
      (!arguments->is_array() || !read_parameters(*arguments, format, facts.kernel.parameters)))
    return no_image("the parameters of kernel " + facts.kernel.name + " are damaged");
  facts.kernel.registers = number(given, format.registers).value_or(0);
  facts.kernel.static_shared = number(given, format.shared).value_or(0);
  facts.kernel.local = number(given, format.local).value_or(0);
  const auto stack = given.find(format.unknown_stack);
  if (stack != given.end() && stack->is_boolean() && stack->get<bool>())
    facts.kernel.local = std::max(facts.kernel.local, kStackIfUnknown);
  return facts;
}

/// Variables are in writable data sections. A kernel's descriptor, which is also an object, is in a read-only
/// one.
bool is_variable(const ElfFile& elf, const ElfSymbol& symbol) {
  if (symbol.type != STT_OBJECT || symbol.section >= elf.sections.size() || symbol.name.empty() ||
      symbol.name.size() > plan::kMaxName || symbol.name.ends_with(".kd"))
    return false;
  const std::string_view section = elf.sections[symbol.section].name;
  return section.starts_with(".data") || section.starts_with(".bss") || section.starts_with(".rodata") ||
         section.starts_with(".constant");
}

/// The entry of a bundle: offset, size and name in sequence.
Result<ByteSpan> entry_of(ByteSpan bundle, const std::string& wanted) {
  std::uint64_t at = kBundle.size();
  const auto count = number_at<std::uint64_t>(bundle, at);
  if (!count || *count > kMostTargets) return no_image("the bundle's directory is damaged");
  at += 8;
  std::string found;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto offset = number_at<std::uint64_t>(bundle, at);
    const auto size = number_at<std::uint64_t>(bundle, at + 8);
    const auto length = number_at<std::uint64_t>(bundle, at + 16);
    if (!length || at + 24 > bundle.size() || *length > bundle.size() - (at + 24))
      return no_image("the bundle's directory is damaged");
    const std::string_view name(reinterpret_cast<const char*>(bundle.data()) + at + 24, *length);
    at += 24 + *length;
    found += (found.empty() ? "" : ", ") + std::string(name);
    if (name != wanted) continue;
    if (*offset > bundle.size() || *size > bundle.size() - *offset) return no_image("an entry past the end");
    return bundle.subspan(*offset, *size);
  }
  return no_image("none for " + wanted + " (there are: " + found + ")");
}

}  // namespace

Result<std::vector<std::byte>> find_image(ByteSpan bytes, const CodeObjectFormat& format,
                                          const std::string& arch) {
  const auto copied = [](ByteSpan image) { return std::vector<std::byte>(image.begin(), image.end()); };
  if (begins_with(bytes, kBundle)) {
    const auto image = entry_of(bytes, format.target + arch);
    if (!image) return image.error();
    return copied(*image);
  }
  const auto elf = read_elf(bytes);
  if (!elf) return elf.error();
  if (elf->machine == format.machine) return copied(bytes);
  const auto section = std::ranges::find(elf->sections, format.section, &ElfSection::name);
  if (section == elf->sections.end())
    return no_image(std::string("no section ") + format.section + ": is there a __global__ function?");
  if (!begins_with(section->bytes, kBundle)) return no_image("its section holds no bundle");
  const auto image = entry_of(section->bytes, format.target + arch);
  if (!image) return image.error();
  return copied(*image);
}

Result<ImageFacts> read_code_object(ByteSpan image, const CodeObjectFormat& format) {
  const auto elf = read_elf(image);
  if (!elf) return elf.error();
  if (elf->machine != format.machine) return no_image("made for another machine");
  std::optional<ByteSpan> note;
  for (const ElfSection& section : elf->sections)
    if (section.type == SHT_NOTE && !note) note = find_note(section.bytes, format);
  if (!note) return no_image("no note about its kernels");
  const auto read = message_pack(*note);
  if (!read) return no_image("the note about its kernels is damaged");
  ImageFacts facts;
  const auto kernels = read->find(format.kernels);
  if (kernels != read->end() && !kernels->is_array()) return no_image("the list of its kernels is damaged");
  if (kernels != read->end())
    for (const Json& given : *kernels) {
      auto kernel = read_kernel(given, format);
      if (!kernel) return kernel.error();
      facts.kernels.push_back(std::move(*kernel));
      if (facts.kernels.size() > plan::kMaxKernels) return no_image("too many kernels");
    }
  for (const ElfSymbol& symbol : elf->symbols)
    if (is_variable(*elf, symbol)) facts.symbols.emplace_back(symbol.name);
  std::ranges::sort(facts.kernels, {}, [](const KernelFacts& one) { return one.kernel.name; });
  std::ranges::sort(facts.symbols);
  return facts;
}

}  // namespace kernelsmith::cuda
