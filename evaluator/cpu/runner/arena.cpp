#include "runner/arena.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>

#include "runner/copying.hpp"

namespace kernelsmith::cpu {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = 64;

std::size_t rounded(std::size_t bytes, std::size_t step) { return (bytes + step - 1) / step * step; }

Error out_of_memory(const char* step) {
  return fail(errno == ENOSPC ? ErrorCode::disk_full : ErrorCode::io,
              std::string("shared memory for the runner: ") + step + ": " + std::strerror(errno));
}

/// Makes a sealed memory file of this size and maps it for the judge. The judge maps it before the seal that
/// forbids further writable mappings.
Status make_shared(const char* name, std::size_t bytes, unsigned seals, Descriptor& descriptor,
                   Mapping& mapping) {
  descriptor = Descriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (descriptor.get() < 0) return out_of_memory("memfd_create");
  if (::ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0) return out_of_memory("ftruncate");
  void* const base =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor.get(), 0);
  if (base == MAP_FAILED) return out_of_memory("mmap");
  mapping = Mapping(static_cast<std::byte*>(base), Unmap{bytes});
  if (::fcntl(descriptor.get(), F_ADD_SEALS, seals | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return out_of_memory("seals");
  return {};
}

}  // namespace

Result<Arena> Arena::create(std::span<const TensorRole> roles, std::vector<ArenaShape> shapes) {
  Arena arena;
  arena.roles_.assign(roles.begin(), roles.end());
  arena.shapes_ = std::move(shapes);
  std::size_t rows = 0;
  for (const ArenaShape& shape : arena.shapes_) rows = std::max(rows, shape.slots);

  // The header page and the tables come before the inputs; their size determines the first tensor's place.
  std::size_t guards = 0;
  for (const ArenaShape& shape : arena.shapes_) guards += shape.slots * roles.size();
  const std::size_t sizes = arena.shapes_.empty() ? 0 : arena.shapes_.front().sizes.size();
  const std::size_t row_bytes = roles.size() * sizeof(runner::Argument) + sizes * sizeof(std::int64_t);
  arena.table_ = rounded(sizeof(runner::Header) + guards * sizeof(runner::Guard), kAlignment);
  arena.inputs_.bytes = rounded(arena.table_ + rows * row_bytes, kPage);
  arena.outputs_.bytes = kPage;  // a mapping cannot be empty

  for (const ArenaShape& shape : arena.shapes_) {
    Offsets& offsets = arena.offsets_.emplace_back();
    for (std::size_t slot = 0; slot < shape.slots; ++slot)
      for (std::size_t t = 0; t < roles.size(); ++t)
        offsets.push_back(arena.place(roles[t] == TensorRole::in, shape.tensor_bytes[t]));
  }
  if (auto status = arena.allocate(); !status) return status.error();
  return arena;
}

/// Places a tensor so that it ends at a guard page, as far as its alignment permits.
std::uint64_t Arena::place(bool among_inputs, std::size_t bytes) {
  std::size_t& used = (among_inputs ? inputs_ : outputs_).bytes;
  const std::size_t end = used + rounded(bytes, kPage);
  (among_inputs ? input_guards_ : output_guards_).push_back(end);
  used = end + kPage;
  return end - rounded(bytes, kAlignment);
}

Status Arena::allocate() {
  if (auto s = make_shared("kernelsmith-inputs", inputs_.bytes, F_SEAL_FUTURE_WRITE, inputs_.descriptor,
                           inputs_.mapping);
      !s)
    return s;
  if (auto s = make_shared("kernelsmith-outputs", outputs_.bytes, 0, outputs_.descriptor, outputs_.mapping);
      !s)
    return s;

  auto* const header = new (inputs_.mapping.get()) runner::Header;
  header->tensors = static_cast<std::uint32_t>(roles_.size());
  header->sizes = static_cast<std::uint32_t>(shapes_.empty() ? 0 : shapes_.front().sizes.size());
  header->guards = static_cast<std::uint32_t>(input_guards_.size() + output_guards_.size());
  header->guards_offset = sizeof(runner::Header);
  header->table_offset = table_;
  auto* guard = reinterpret_cast<runner::Guard*>(inputs_.mapping.get() + header->guards_offset);
  for (const std::uint64_t offset : input_guards_) *guard++ = {0, offset};
  for (const std::uint64_t offset : output_guards_) *guard++ = {1, offset};
  return {};
}

std::byte* Arena::tensor(std::size_t shape, std::size_t slot, std::size_t tensor) const {
  const Part& part = roles_[tensor] == TensorRole::in ? inputs_ : outputs_;
  return part.mapping.get() + offsets_[shape][slot * roles_.size() + tensor];
}

std::array<std::span<std::byte>, 2> Arena::margins(std::size_t shape, std::size_t slot,
                                                   std::size_t tensor) const {
  const std::size_t bytes = tensor_bytes(shape, tensor);
  std::byte* const begin = this->tensor(shape, slot, tensor);
  std::byte* const end = begin + rounded(bytes, kAlignment);
  std::byte* const page = end - rounded(bytes, kPage);
  return {std::span(page, begin), std::span(begin + bytes, end)};
}

std::size_t Arena::tensor_bytes(std::size_t shape, std::size_t tensor) const {
  return shapes_[shape].tensor_bytes[tensor];
}

void Arena::set_calls(std::size_t shape, std::size_t calls) {
  std::byte* row = inputs_.mapping.get() + table_;
  const auto append = [&](const auto& value) {
    std::memcpy(row, &value, sizeof value);
    row += sizeof value;
  };
  auto offset = offsets_[shape].begin();
  for (std::size_t call = 0; call < calls; ++call) {
    for (const TensorRole role : roles_)
      append(runner::Argument{role == TensorRole::in ? 0U : 1U, *offset++});
    for (const std::int64_t size : shapes_[shape].sizes) append(size);
  }
}

void Arena::wipe() {
  // Wiping bypasses the caches, so that nobody can tell which lines were in them. The header is kept.
  const std::vector<std::byte> header(inputs_.mapping.get(), inputs_.mapping.get() + table_);
  streaming_copy(inputs_.mapping.get(), header.data(), header.size());
  const std::span<std::byte> inputs(inputs_.mapping.get() + table_, inputs_.bytes - table_);
  const std::span<std::byte> outputs(outputs_.mapping.get(), outputs_.bytes);
  const std::size_t lanes = lanes_for(bytes());
  in_lanes(lanes, [&](std::size_t lane) {
    for (const auto& memory : {part_of(inputs, lane, lanes), part_of(outputs, lane, lanes)})
      streaming_fill(memory.data(), memory.size(), 0);
  });
}

}  // namespace kernelsmith::cpu
