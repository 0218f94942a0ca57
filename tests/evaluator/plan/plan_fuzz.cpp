// Any bytes as a plan or a call: what decodes encodes to the same bytes, and can be checked and described.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kernelsmith/evaluator/plan.hpp>

#include "fuzz.hpp"

using namespace kernelsmith;
using namespace kernelsmith::plan;

namespace {

constexpr Workspace kWorkspace{0x100000, 0x200000, 65536};

void check_and_describe(const Call& call, std::span<const Kernel> kernels, std::size_t cubins,
                        const Workspace& workspace) {
  const std::vector<NamedBuffer> named{{"x", {0x10000, 4096, false}}, {"y", {0x20000, 4096, true}}};
  const std::vector<Buffer> buffers{named[0].buffer, named[1].buffer};
  const Status status = check(call, kernels, cubins, buffers, workspace);
  if (!status) require(status.error().code == ErrorCode::bad_input && !status.error().hint.empty());
  const std::string text = describe(call, kernels, named, workspace);
  require(text.empty() == (call.operations.empty() && call.tensor_maps.empty() && call.kept_workspace == 0 &&
                           call.call_workspace == 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<Kernel> kernels{{0, "_Z5scalePfPKfi", {{0, 8}, {8, 8}, {16, 4}}, 32, 1024, 0},
                                    {0, "_Z4load14CUtensorMap_stPf", {{0, 128}, {128, 8}}, 40, 0, 0}};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const auto is_same = [&](const std::vector<std::byte>& encoded) {
    return std::equal(encoded.begin(), encoded.end(), bytes.begin(), bytes.end());
  };
  if (const auto call = decode_call(bytes)) {
    require(is_same(encode(*call)));
    check_and_describe(*call, kernels, 1, kWorkspace);
  }
  if (const auto plan = decode_plan(bytes)) {
    require(is_same(encode(*plan)));
    for (const Call& call : plan->calls)
      check_and_describe(call, plan->kernels, plan->cubins.size(), plan->workspace);
  }
  return 0;
}
