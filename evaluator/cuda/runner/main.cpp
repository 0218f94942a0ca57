// kernelsmith-cuda-runner: the process with the context of candidate kernels. It is trusted, runs no
// candidate host code, and has nothing of the judge except the memory that it maps.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
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

  /// Answers messages until the judge closes the channel or the context is lost.
  void serve() {
    while (const auto message = channel_.receive()) {
      const auto payload = carry_out(*message);
      if (payload)
        send(MessageKind::done, *payload);
      else
        refuse(payload.error());
    }
  }

 private:
  using Payload = std::vector<std::byte>;

  /// Executes the message, and returns the answer's payload.
  Judged<Payload> carry_out(const Message& message) {
    switch (message.kind) {
      case MessageKind::map:
        return answer<Numbers>(
            message, [&](const Numbers& sizes) { return replayer_.map(sizes, message.descriptors); });
      case MessageKind::unmap:
        return answer<Numbers>(message, [&](const Numbers& addresses) { return replayer_.unmap(addresses); });
      case MessageKind::keep:
        return payload_of(replayer_.keep(message.payload));
      case MessageKind::forget:
        return answer<std::uint32_t>(message, [&](std::uint32_t number) {
          replayer_.forget(number);
          return Status();
        });
      case MessageKind::replay:
        return answer<ReplayRequest>(message, [&](const ReplayRequest& request) {
          return replayer_.replay(request.number, request.replay);
        });
      default:
        return no_request();
    }
  }

  template <class Request, class CarryOut>
  static Judged<Payload> answer(const Message& message, const CarryOut& carry_out) {
    const auto request = plan::decoded<Request>(message.payload);
    return request ? payload_of(carry_out(*request)) : no_request();
  }

  template <class Outcome>
  static Judged<Payload> payload_of(const Outcome& outcome) {
    if (!outcome) return Failure(outcome.error());
    if constexpr (std::is_void_v<typename Outcome::value_type>)
      return Payload();
    else
      return plan::encoded(*outcome);
  }

  static Failure no_request() {
    return fail(ErrorCode::internal, "the runner was sent something that is not a request");
  }

  void refuse(const Failure& failure) {
    const bool fatal = replayer_.lost(failure);
    send(MessageKind::refused, plan::encoded(RunnerRefusal{failure, fatal}));
    // Runs no destructors, because they would wait for a kernel that never ends.
    if (fatal) ::_exit(1);
  }

  void send(MessageKind kind, const Payload& payload) {
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
    static_cast<void>(
        channel.send(MessageKind::refused, plan::encoded(RunnerRefusal{replayer.error(), true})));
    return 3;
  }
  if (!channel.send(MessageKind::done, plan::encoded((*replayer)->workspace()))) return 4;
  Server(std::move(channel), **replayer).serve();
  ::_exit(0);  // the driver takes everything back
}
