#include "plan/addresses.hpp"

#include "plan/text.hpp"

namespace kernelsmith::plan {
namespace {

std::optional<std::string> place(std::uint64_t address, const std::string& name, std::uint64_t begin,
                                 std::uint64_t bytes) {
  if (address < begin || address - begin >= bytes) return std::nullopt;
  return address == begin ? name : name + " + " + std::to_string(address - begin);
}

}  // namespace

std::optional<std::string> Addresses::find(std::uint64_t address) const {
  for (const NamedBuffer& buffer : buffers_)
    if (auto found = place(address, buffer.name, buffer.buffer.address, buffer.buffer.bytes)) return found;
  if (auto found = place(address, kKeptName, workspace_.kept, call_.kept_workspace)) return found;
  return place(address, kCallName, workspace_.call, call_.call_workspace);
}

std::string Addresses::name(std::uint64_t address) const {
  return find(address).value_or(hexadecimal(address));
}

}  // namespace kernelsmith::plan
