// Finds the buffer of an address in a plan, and makes the message if there is none or the end is exceeded.
#include "plan/checks.hpp"
#include "plan/text.hpp"

namespace kernelsmith::plan {
namespace {

constexpr const char* kStayInside =
    "Stay within the entry's tensors and what cudaMalloc or cudaMallocAsync gave; sizes are in bytes";

bool begins_in(std::uint64_t address, std::uint64_t begin, std::uint64_t bytes) {
  return address >= begin && address - begin < bytes;
}

/// By how many bytes a range of `bytes` at `offset` exceeds a region of `region_bytes`.
std::uint64_t bytes_past(std::uint64_t offset, std::uint64_t bytes, std::uint64_t region_bytes) {
  const std::uint64_t room = region_bytes - offset;
  return bytes > room ? bytes - room : 0;
}

const char* name_of(Access access) {
  switch (access) {
    case Access::reads:
      return "reads";
    case Access::writes:
      return "writes";
    case Access::covers:
      return "covers";
  }
  return "";
}

}  // namespace

Status Places::allow(Access access, std::uint64_t address, std::uint64_t bytes) const {
  if (bytes == 0) return {};
  const std::string what =
      std::string(name_of(access)) + " " + counted(bytes, "byte") + " at " + hexadecimal(address);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    if (!begins_in(address, buffer.address, buffer.bytes)) continue;
    const std::string tensor = "tensor " + std::to_string(i + 1) + " of the entry";
    if (const auto past = bytes_past(address - buffer.address, bytes, buffer.bytes); past > 0)
      return refuse(what + ", " + counted(past, "byte") + " past the end of " + tensor, kStayInside);
    if (access == Access::writes && !buffer.writable)
      return refuse(what + ": " + tensor + " is an input",
                    "Inputs are read-only; take a copy in memory from cudaMallocAsync");
    return {};
  }
  return allow_in_workspace(what, address, bytes);
}

Status Places::allow_in_workspace(const std::string& what, std::uint64_t address, std::uint64_t bytes) const {
  const auto allow_in = [&](std::uint64_t begin, std::uint64_t used, const char* maker) -> Status {
    if (const auto past = bytes_past(address - begin, bytes, used); past > 0)
      return refuse(what + ", " + counted(past, "byte") + " past the end of the memory from " + maker,
                    kStayInside);
    return {};
  };
  if (begins_in(address, workspace_.kept, call_.kept_workspace))
    return allow_in(workspace_.kept, call_.kept_workspace, "cudaMalloc");
  if (begins_in(address, workspace_.call, call_.call_workspace))
    return allow_in(workspace_.call, call_.call_workspace, "cudaMallocAsync");
  return refuse(what + ", which lies in no tensor and no workspace of this call", kStayInside);
}

Status check_workspace(const Call& call, const Workspace& workspace) {
  const auto fits = [&](std::uint64_t used, const char* maker) -> Status {
    if (used <= workspace.bytes) return {};
    return refuse(std::to_string(used) + " bytes of " + maker + "; a plan has at most " +
                      std::to_string(workspace.bytes),
                  "Use less workspace, or free memory before more is allocated");
  };
  if (Status status = fits(call.kept_workspace, "cudaMalloc"); !status) return status;
  return fits(call.call_workspace, "cudaMallocAsync");
}

}  // namespace kernelsmith::plan
