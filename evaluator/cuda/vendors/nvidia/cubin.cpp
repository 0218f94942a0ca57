#include "vendors/nvidia/cubin.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <elf.h>

#include "toolchain/elf_file.hpp"

namespace kernelsmith::cuda {
namespace {

// The format of nvcc 13.0's cubins; there is no public description.
constexpr std::uint16_t kMachineCuda = 190;
/// From this version on, the architecture is in bits 8 to 15 of e_flags; in earlier versions (CUDA 12) it is
/// in bits 0 to 7.
constexpr std::uint8_t kAbiOfCuda13 = 8;
/// The flag in a symbol's st_other that marks a __global__ function.
constexpr std::uint8_t kEntrySymbol = 0x10;
/// From sm_90 on, a block's shared memory begins with 1 KB that the system uses, which is not part of the
/// size.
constexpr std::uint32_t kFirstArchWithReserve = 90;
constexpr std::uint64_t kReservedShared = 1024;
/// The stack that CUDA gives a thread if the compiler cannot determine its size: recursion, alloca, calls
/// through a pointer.
constexpr std::uint32_t kUnknownStack = 1024;

// Attributes of .nv.info sections.
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kMinStackSize = 0x12;
constexpr std::uint8_t kParameterInfo = 0x17;
constexpr std::uint8_t kRegisterCount = 0x2f;
constexpr std::uint8_t kLargeParameterInfo = 0x45;  ///< instead of kParameterInfo, beyond 4 KB of parameters
/// The format of an attribute. A kSized attribute has its length in bytes 2 and 3; others have their value
/// there.
constexpr std::uint8_t kSized = 4;

Error no_cubin(const std::string& what) { return fail(ErrorCode::bad_input, "not a cubin: " + what); }

/// Calls `use(attribute, value)` for each sized attribute, until a call returns false. Returns false then,
/// and if an attribute does not lie inside.
template <class Use>
bool each_attribute(ByteSpan info, const Use& use) {
  while (!info.empty()) {
    const auto format = number_at<std::uint8_t>(info, 0);
    const auto attribute = number_at<std::uint8_t>(info, 1);
    const auto size = number_at<std::uint16_t>(info, 2);
    if (!size) return false;
    info = info.subspan(4);
    if (format != kSized) continue;
    if (*size > info.size() || !use(*attribute, info.first(*size))) return false;
    info = info.subspan(*size);
  }
  return true;
}

/// A kernel's parameters by their ordinals.
using Parameters = std::map<std::uint16_t, plan::Parameter>;

bool add_parameter(std::uint8_t attribute, ByteSpan value, Parameters& parameters) {
  const auto ordinal = number_at<std::uint16_t>(value, 4);
  const auto offset = number_at<std::uint16_t>(value, 6);
  const auto word = number_at<std::uint32_t>(value, 8);
  if (!word) return false;
  const std::uint32_t size = attribute == kLargeParameterInfo ? *word & 0xffffU : *word >> 18U;
  return parameters.emplace(*ordinal, plan::Parameter{*offset, size}).second;
}

/// Returns false if there are too many parameters, one is missing, or two overlap.
bool keep_parameters(const Parameters& found, std::vector<plan::Parameter>& kept) {
  if (found.size() > plan::kMaxParameters) return false;
  std::uint32_t end = 0;
  for (const auto& [ordinal, parameter] : found) {
    if (ordinal != kept.size() || parameter.size == 0 || parameter.offset < end) return false;
    end = parameter.offset + parameter.size;
    kept.push_back(parameter);
  }
  return end <= plan::kMaxParameterBytes;
}

/// Whether `is` is true for the lowest 12 bits of any instruction. An instruction has 16 bytes; its lowest 9
/// bits are the opcode, the next ones the kinds of operands.
template <class Is>
bool has_instruction(ByteSpan code, const Is& is) {
  for (std::size_t at = 0; at + 16 <= code.size(); at += 16)
    if (is(*number_at<std::uint16_t>(code, at) & 0xfffU)) return true;
  return false;
}

/// The opcodes were found by compiling each of PTX's mma, wgmma and tcgen05.mma.
bool is_matrix_instruction(std::uint32_t bits) {
  switch (bits & 0x1ffU) {
    case 0x037:  // IMMA
    case 0x03c:  // HMMA
    case 0x03d:  // BMMA
    case 0x03f:  // DMMA
    case 0x07a:  // QMMA
    case 0x1ea:  // UTCMMA (sm_100)
    case 0x1f0:  // HGMMA
    case 0x1f1:  // IGMMA
    case 0x1f2:  // BGMMA
    case 0x1f3:  // QGMMA
      return true;
    default:
      return false;
  }
}

/// Whether the instruction loads from local memory (LDL), stores there (STL), or calls through a register.
/// The opcodes were found by compiling recursion, alloca and calls through a pointer.
bool may_use_stack(std::uint32_t bits) {
  return (bits & 0x1ffU) == 0x183 || (bits & 0x1ffU) == 0x187 || bits == 0x344;
}

class CubinReader {
 public:
  explicit CubinReader(const ElfFile& elf) : elf_(elf) {
    for (const ElfSection& section : elf.sections) sections_.emplace(section.name, &section);
  }

  Result<ImageFacts> read() {
    facts_.arch = (elf_.flags >> (elf_.abi_version >= kAbiOfCuda13 ? 8U : 0U)) & 0xffU;
    const bool info_read = each_attribute(bytes_of(".nv.info"), [&](std::uint8_t attribute, ByteSpan value) {
      return note_resource(attribute, value);
    });
    if (!info_read) return no_cubin("damaged .nv.info");
    for (std::size_t i = 0; i < elf_.symbols.size(); ++i) {
      const ElfSymbol& symbol = elf_.symbols[i];
      if (symbol.type == STT_OBJECT && holds_variables(symbol)) facts_.symbols.emplace_back(symbol.name);
      if (symbol.type != STT_FUNC || (symbol.other & kEntrySymbol) == 0) continue;
      auto kernel = read_kernel(i);
      if (!kernel) return kernel.error();
      facts_.kernels.push_back(std::move(*kernel));
      if (facts_.kernels.size() > plan::kMaxKernels) return no_cubin("too many kernels");
    }
    std::ranges::sort(facts_.kernels, {}, [](const KernelFacts& facts) { return facts.kernel.name; });
    std::ranges::sort(facts_.symbols);
    return std::move(facts_);
  }

 private:
  struct Resources {
    std::uint32_t registers = 0, frame = 0, stack = 0;
  };

  const ElfSection* find(const std::string& name) const {
    const auto found = sections_.find(name);
    return found == sections_.end() ? nullptr : found->second;
  }
  ByteSpan bytes_of(const std::string& name) const {
    const ElfSection* const section = find(name);
    return section == nullptr ? ByteSpan() : section->bytes;
  }

  /// Reads an attribute of .nv.info: a symbol's index and a number.
  bool note_resource(std::uint8_t attribute, ByteSpan value) {
    if (attribute != kRegisterCount && attribute != kFrameSize && attribute != kMinStackSize) return true;
    const auto symbol = number_at<std::uint32_t>(value, 0);
    const auto number = number_at<std::uint32_t>(value, 4);
    if (!number || *symbol >= elf_.symbols.size()) return false;
    Resources& resources = resources_[*symbol];
    (attribute == kRegisterCount ? resources.registers
     : attribute == kFrameSize   ? resources.frame
                                 : resources.stack) = *number;
    return true;
  }

  bool holds_variables(const ElfSymbol& symbol) const {
    if (symbol.section >= elf_.sections.size() || symbol.name.empty() || symbol.name.size() > plan::kMaxName)
      return false;
    const std::string_view section = elf_.sections[symbol.section].name;
    return section == ".nv.global" || section == ".nv.global.init" || section == ".nv.constant3";
  }

  Result<KernelFacts> read_kernel(std::size_t index) const {
    const std::string name(elf_.symbols[index].name);
    if (name.empty() || name.size() > plan::kMaxName) return no_cubin("a kernel's name is too long");
    const ElfSection* const code = find(".text." + name);
    if (code == nullptr) return no_cubin("no code of kernel " + name);
    KernelFacts facts;
    facts.kernel.name = name;
    Parameters parameters;
    const auto use = [&](std::uint8_t attribute, ByteSpan value) {
      return (attribute != kParameterInfo && attribute != kLargeParameterInfo) ||
             add_parameter(attribute, value, parameters);
    };
    if (!each_attribute(bytes_of(".nv.info." + name), use) ||
        !keep_parameters(parameters, facts.kernel.parameters))
      return no_cubin("damaged parameters of kernel " + name);
    if (const auto found = resources_.find(index); found != resources_.end()) {
      facts.kernel.registers = found->second.registers;
      facts.kernel.local = std::max(found->second.frame, found->second.stack);
    }
    if (facts.kernel.local == 0 && has_instruction(code->bytes, may_use_stack))
      facts.kernel.local = kUnknownStack;
    facts.kernel.static_shared = static_shared(name);
    facts.tensor_cores = has_instruction(code->bytes, is_matrix_instruction);
    return facts;
  }

  std::uint32_t static_shared(const std::string& name) const {
    const ElfSection* const shared = find(".nv.shared." + name);
    if (shared == nullptr) return 0;
    const std::uint64_t reserved = facts_.arch >= kFirstArchWithReserve ? kReservedShared : 0;
    const std::uint64_t own = shared->size - std::min(shared->size, reserved);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(own, UINT32_MAX));
  }

  const ElfFile& elf_;
  std::map<std::string_view, const ElfSection*> sections_;
  std::map<std::size_t, Resources> resources_;  ///< by symbol
  ImageFacts facts_;
};

}  // namespace

Result<ImageFacts> read_cubin(std::span<const std::byte> bytes) {
  const auto elf = read_elf(bytes);
  if (!elf) return elf.error();
  if (elf->machine != kMachineCuda) return no_cubin("made for another machine");
  if (elf->type != ET_EXEC) return no_cubin("not linked (compiled with -rdc?)");
  return CubinReader(*elf).read();
}

}  // namespace kernelsmith::cuda
