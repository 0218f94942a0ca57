// kernelsmith-cuda-runner: the process with the context of candidate kernels. It is trusted, runs no
// candidate host code, and has nothing of the judge except the memory that it maps.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <unistd.h>

#include "runner/judge_watch.hpp"
#include "runner/protocol.hpp"
#include "runner/replayer.hpp"
#include "vendors/vendors.hpp"

namespace {

using namespace kernelsmith;
using namespace kernelsmith::cuda;

class Server {
 public:
  Server(Channel channel, Replayer& replayer) : channel_(std::move(channel)), replayer_(replayer) {}

  /// Until the judge closes the channel, or the context is lost.
  void serve() {
    while (true) {
      auto message = channel_.receive();
      if (!message) return;
      answer(*message);
    }
  }

 private:
  void answer(const Message& message) {
    PayloadReader reader(message.payload);
    switch (message.kind) {
      case MessageKind::map:
        return map(reader, message.descriptors);
      case MessageKind::unmap:
        return unmap(reader);
      case MessageKind::keep:
        return keep(reader);
      case MessageKind::forget:
        return forget(reader);
      case MessageKind::replay:
        return replay(reader);
      default:
        refuse(fail(ErrorCode::internal, "the runner was sent something that is no request"));
    }
  }

  static std::vector<std::uint64_t> numbers(PayloadReader& reader) {
    std::vector<std::uint64_t> taken(static_cast<std::size_t>(reader.take<std::uint64_t>()) % (1 << 20));
    for (auto& each : taken) each = reader.take<std::uint64_t>();
    return taken;
  }

  void map(PayloadReader& reader, std::span<const Descriptor> descriptors) {
    const auto mapped = replayer_.map(numbers(reader), descriptors);
    if (!mapped) return refuse(mapped.error());
    PayloadWriter payload;
    for (const std::uint64_t address : *mapped) payload.put(address);
    done(payload);
  }

  void unmap(PayloadReader& reader) {
    if (const auto got = replayer_.unmap(numbers(reader)); !got) return refuse(got.error());
    done();
  }

  void keep(PayloadReader& reader) {
    const auto number = replayer_.keep(reader.rest());
    if (!number) return refuse(number.error());
    done(PayloadWriter().put(*number));
  }

  void forget(PayloadReader& reader) {
    replayer_.forget(reader.take<std::uint32_t>());
    done();
  }

  void replay(PayloadReader& reader) {
    const auto request = decode_request(reader);
    const auto time = replayer_.replay(request.number, request.replay);
    if (!time) return refuse(time.error());
    done(encode_time(*time));
  }

  void done(PayloadWriter payload = {}) { send(MessageKind::done, payload.take()); }

  void refuse(const Failure& failure) {
    const bool fatal = replayer_.lost(failure);
    if (const auto* rejection = std::get_if<Rejection>(&failure))
      send(MessageKind::rejection, encode_rejection(*rejection, fatal));
    else
      send(MessageKind::error, encode_error(std::get<Error>(failure), fatal));
    // Without destructors: they would wait for a kernel that never ends.
    if (fatal) ::_exit(1);
  }

  void send(MessageKind kind, const std::vector<std::byte>& payload) {
    if (!channel_.send(kind, payload)) ::_exit(4);
  }

  Channel channel_;
  Replayer& replayer_;
};

}  // namespace

int main(int argc, char** argv) {
  RunnerSettings settings;
  if (argc == 4) settings.vendor = vendor_named(argv[2]);
  if (settings.vendor == nullptr || !is_socket(kChannelDescriptor)) {
    std::fputs(
        "usage: kernelsmith-cuda-runner DEVICE VENDOR KERNELS\n"
        "Started by kernelsmith, with its end of a socket as descriptor 3.\n",
        stderr);
    return 2;
  }
  close_inherited();
  for (const auto& [name, value] : settings.vendor->driver.environment) ::setenv(name, value, 1);
  end_with_the_judge();
  Channel channel{Descriptor(kChannelDescriptor)};
  settings.device = std::atoi(argv[1]);
  settings.kernels = argv[3];
  auto replayer = Replayer::create(settings);
  if (!replayer) {
    static_cast<void>(channel.send(MessageKind::error, encode_error(replayer.error(), true)));
    return 3;
  }
  const Started started{(*replayer)->workspace()};
  if (!channel.send(MessageKind::done, PayloadWriter().put(started).take())) return 4;
  Server(std::move(channel), **replayer).serve();
  ::_exit(0);  // the driver takes everything back
}
