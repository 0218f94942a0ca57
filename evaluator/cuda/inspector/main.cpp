// kernelsmith-cuda-inspector: runs a plan's first call once, in its own memory, under a tool
// (compute-sanitizer, ncu). Trusted like the runner; it has no clock and no secrets.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <kernelsmith/evaluator/plan.hpp>

#include "device/context.hpp"
#include "inspector/protocol.hpp"
#include "runner/faults.hpp"
#include "runner/judge_watch.hpp"
#include "runner/loaded_plan.hpp"
#include "vendors/nvidia/nvidia.hpp"

namespace {

using namespace kernelsmith;
using namespace kernelsmith::cuda;

/// A mapping of a descriptor's memory.
class Values {
 public:
  Values(int descriptor, std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) mapped_ = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  }
  ~Values() {
    if (ok() && bytes_ > 0) ::munmap(mapped_, bytes_);
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  bool ok() const { return mapped_ != MAP_FAILED; }
  const std::byte* at(std::size_t offset) const { return static_cast<const std::byte*>(mapped_) + offset; }

 private:
  std::size_t bytes_;
  void* mapped_ = nullptr;
};

/// The memory and the options for running a plan.
class Inspector {
 public:
  explicit Inspector(std::shared_ptr<const DeviceContext> context)
      : context_(std::move(context)), driver_(context_->driver()), current_(*context_) {}

  Status prepare() {
    auto stream = make_stream(driver_);
    if (!stream) return stream.error();
    stream_ = std::move(*stream);
    return {};
  }

  Status map(const InspectorMemory& memory, const Descriptor& descriptor) {
    std::size_t filled = 0;
    for (const auto& tensor : memory.tensors) filled += tensor.filled ? tensor.bytes : 0;
    const Values values(descriptor.get(), filled);
    if (!values.ok()) return fail(ErrorCode::io, "the inputs cannot be mapped");
    kept_ = memory.kept_workspace;
    call_ = memory.call_workspace;
    for (const std::uint64_t bytes : {kept_, call_})
      if (auto got = allocate(bytes, true); !got) return got;
    std::size_t offset = 0;
    for (const auto& tensor : memory.tensors) {
      if (auto got = allocate(tensor.bytes, !tensor.filled); !got) return got;
      if (!tensor.filled || tensor.bytes == 0) continue;
      if (auto got = driver_.call(driver_.copy_to_device, buffers_.back().address, values.at(offset),
                                  static_cast<std::size_t>(tensor.bytes), stream_.get());
          !got)
        return got;
      offset += tensor.bytes;
    }
    return driver_.call(driver_.stream_synchronize, stream_.get());
  }

  /// The sizes of the two workspaces, then of the tensors.
  const std::vector<plan::Buffer>& buffers() const { return buffers_; }

  Judged<void> replay(std::span<const std::byte> encoded) {
    const auto plan = plan::decode_plan(encoded);
    if (!plan) return Failure(plan.error());
    const std::span<const plan::Buffer> tensors = std::span(buffers_).subspan(2);
    if (plan->calls.size() != 1)
      return Failure(fail(ErrorCode::invalid_argument, "one call is inspected at a time"));
    const plan::Call& call = plan->calls.front();
    if (auto allowed = plan::check(call, plan->kernels, plan->cubins.size(), tensors, plan->workspace);
        !allowed)
      return Failure(allowed.error());
    if (call.kept_workspace > kept_ || call.call_workspace > call_)
      return Failure(fail(ErrorCode::refused, "the call asks for more workspace than when it was judged"));
    auto loaded = LoadedPlan::load(driver_, *plan, 1);
    if (!loaded) return loaded.error();
    if (auto built = (*loaded)->build(); !built) return built.error();
    for (const auto code :
         {driver_.graph_launch((*loaded)->graph(), stream_.get()), driver_.stream_synchronize(stream_.get())})
      if (code != abi::kSuccess) {
        static_cast<void>(loaded->release());  // the context is lost
        return device_failure(driver_, driver_.graph_launch.name, code);
      }
    return {};
  }

 private:
  Status allocate(std::uint64_t bytes, bool writable) {
    abi::Address address = 0;
    if (auto got = driver_.call(driver_.memory_allocate, &address,
                                static_cast<std::size_t>(std::max<std::uint64_t>(bytes, 1)));
        !got)
      return got;
    memory_.emplace_back(driver_.memory_free, address);
    buffers_.push_back({address, bytes, writable});
    return {};
  }

  std::shared_ptr<const DeviceContext> context_;
  const Driver& driver_;
  DeviceContext::Current current_;
  Owned<abi::Stream> stream_;
  std::uint64_t kept_ = 0, call_ = 0;
  std::vector<Owned<abi::Address>> memory_;
  std::vector<plan::Buffer> buffers_;
};

void refuse(Channel& channel, const Failure& failure) {
  static_cast<void>(channel.send(MessageKind::refused, plan::encoded(RunnerRefusal{failure, true})));
}

/// Executes the message and returns the answer's payload.
Judged<std::vector<std::byte>> carry_out(const Message& message, Inspector& inspector) {
  const auto memory = plan::decoded<InspectorMemory>(message.payload);
  if (message.kind == MessageKind::map && memory && message.descriptors.size() == 1) {
    if (auto mapped = inspector.map(*memory, message.descriptors.front()); !mapped)
      return Failure(mapped.error());
    Numbers addresses;
    for (const plan::Buffer& buffer : inspector.buffers()) addresses.push_back(buffer.address);
    return plan::encoded(addresses);
  }
  if (message.kind != MessageKind::replay)
    return Failure(fail(ErrorCode::internal, "the inspector was sent something that is not a request"));
  if (auto replayed = inspector.replay(message.payload); !replayed) return replayed.error();
  return std::vector<std::byte>();
}

/// Runs until the judge ends it. A failure is reported as the last answer.
void serve(Channel& channel, Inspector& inspector) {
  while (auto message = channel.receive()) {
    if (message->kind == MessageKind::forget) return;
    const auto payload = carry_out(*message, inspector);
    if (!payload) return refuse(channel, payload.error());
    if (!channel.send(MessageKind::done, *payload)) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !is_socket(kChannelDescriptor)) {
    std::fputs(
        "usage: kernelsmith-cuda-inspector DEVICE\n"
        "Started by kernelsmith, with its end of a socket as descriptor 3.\n",
        stderr);
    return 2;
  }
  ::fcntl(kChannelDescriptor, F_SETFD, FD_CLOEXEC);
  end_with_the_judge();
  Channel channel{Descriptor(kChannelDescriptor)};
  auto context = DeviceContext::create(nvidia(), std::atoi(argv[1]));
  // The exit status is always 0, because the tools would treat any other status as a finding.
  if (!context) return refuse(channel, context.error()), 0;
  Inspector inspector(std::move(*context));
  if (auto prepared = inspector.prepare(); !prepared) return refuse(channel, prepared.error()), 0;
  if (channel.send(MessageKind::done, {})) serve(channel, inspector);
  return 0;
}
