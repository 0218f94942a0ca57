#include "planner/earlier_calls.hpp"

#include <algorithm>

namespace kernelsmith::cuda::planner {
namespace {

bool holds(const plan::Buffer& buffer, std::uint64_t address) {
  return address - buffer.address < buffer.bytes;
}

struct Use {
  std::string what;
  std::uint64_t address = 0;
};

std::vector<Use> uses_of(const plan::Call& call) {
  std::vector<Use> uses;
  for (std::size_t i = 0; i < call.tensor_maps.size(); ++i)
    uses.push_back({"tensor map " + std::to_string(i), call.tensor_maps[i].address});
  for (std::size_t i = 0; i < call.operations.size(); ++i) {
    const std::string where = "operation " + std::to_string(i + 1);
    const auto& what = call.operations[i].what;
    if (const auto* const memset = std::get_if<plan::Memset>(&what))
      uses.push_back({where + ", memset", memset->address});
    if (const auto* const upload = std::get_if<plan::Upload>(&what))
      uses.push_back({where + ", copy", upload->to});
    if (const auto* const copy = std::get_if<plan::Copy>(&what)) {
      uses.push_back({where + ", copy", copy->to});
      uses.push_back({where + ", copy", copy->from});
    }
  }
  return uses;
}

}  // namespace

std::optional<std::string> EarlierCalls::holder(std::uint64_t address) const {
  for (std::size_t call = 0; call < calls_.size(); ++call)
    for (std::size_t tensor = 0; tensor < calls_[call].size(); ++tensor)
      if (holds(calls_[call][tensor], address))
        return "tensor " + std::to_string(tensor + 1) + " of the entry in call " + std::to_string(call + 1);
  return std::nullopt;
}

std::string EarlierCalls::kept_by(const plan::Call& call, std::span<const plan::Buffer> tensors) const {
  for (const Use& use : uses_of(call)) {
    if (std::ranges::any_of(tensors, [&](const plan::Buffer& one) { return holds(one, use.address); }))
      continue;
    if (const auto kept = holder(use.address))
      return use.what + ": its memory was " + *kept + ", and this is call " +
             std::to_string(calls_.size() + 1) +
             ". Tensors have other addresses in each call: take pointers from the arguments, and encode "
             "tensor maps, in every call";
  }
  return {};
}

}  // namespace kernelsmith::cuda::planner
