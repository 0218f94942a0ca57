// Any messages that a candidate can send over the runner's channel: one that is no reply, or no reply to the
// last request, is never taken for an answer, and nothing waits, overflows or throws.
//
// The input is a sequence of messages: a byte of flags, a byte of length, and as many bytes. Flags: 1 puts
// the last request's number into it, 2 asks for a batch first, 4 listens afterwards, 8 hangs up, 16 asks
// whether there is more, 32 has an object loaded first, where no batch was asked for yet.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <sys/socket.h>

#include "fuzz.hpp"
#include "runner/channel.hpp"
#include "runner/protocol.hpp"

using namespace kernelsmith;
using namespace kernelsmith::cpu;

namespace {

using Message = std::vector<std::uint8_t>;

/// What the other end sees and does.
struct Candidate {
  Descriptor end;
  std::uint64_t nonce = 0;
  runner::Status awaited = runner::Status::ready;
  std::vector<Message> sent;

  void read_request() {
    runner::Request request;
    require(::recv(end.get(), &request, sizeof request, MSG_DONTWAIT) == sizeof request);
    require(request.magic == runner::kMagic && request.nonce != 0 && request.nonce != nonce);
    nonce = request.nonce;
    awaited = runner::Status::done;
  }

  void read_load_request() {
    runner::LoadRequest request;
    require(::recv(end.get(), &request, sizeof request, MSG_DONTWAIT) == sizeof request);
    require(request.magic == runner::kMagic);
    awaited = runner::Status::loaded;
  }

  void send(Message message, bool with_nonce) {
    const std::size_t at = offsetof(runner::Reply, nonce);
    if (with_nonce && message.size() >= at + sizeof nonce)
      std::memcpy(message.data() + at, &nonce, sizeof nonce);
    // A full socket takes no more; an empty message would read as an end.
    if (!message.empty() &&
        ::send(end.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
      sent.push_back(std::move(message));
  }
};

bool is_answer(const Message& message, std::uint64_t nonce, runner::Status awaited) {
  runner::Reply reply;
  if (message.size() != sizeof reply) return false;
  std::memcpy(&reply, message.data(), sizeof reply);
  return reply.magic == runner::kMagic && reply.nonce == nonce && reply.status == awaited;
}

void listen(RunnerChannel& judge, Candidate& candidate) {
  const auto message = judge.listen(0.001, -1);
  require(bool(message));
  if (candidate.sent.empty()) {
    require(message->kind == RunnerMessage::Kind::nothing || message->kind == RunnerMessage::Kind::ended);
    return;
  }
  require((message->kind == RunnerMessage::Kind::answer) ==
          is_answer(candidate.sent.front(), candidate.nonce, candidate.awaited));
  require((message->kind == RunnerMessage::Kind::forged) == !message->what.empty());
  require(message->kind != RunnerMessage::Kind::nothing && message->kind != RunnerMessage::Kind::ended);
  candidate.sent.erase(candidate.sent.begin());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto ends = RunnerChannel::create();
  require(bool(ends));
  RunnerChannel judge = std::move(ends->first);
  Candidate candidate{std::move(ends->second), 0, runner::Status::ready, {}};
  bool asked = false;
  std::span<const std::uint8_t> rest(data, size);
  while (rest.size() >= 2) {
    const std::uint8_t flags = rest[0];
    const auto body = rest.subspan(2, std::min<std::size_t>(rest[1], rest.size() - 2));
    rest = rest.subspan(2 + body.size());
    if ((flags & 32U) != 0 && !asked && judge.load(candidate.end.get())) candidate.read_load_request();
    if ((flags & 2U) != 0 && judge.request(flags)) candidate.read_request();
    asked = asked || (flags & 2U) != 0;
    candidate.send(Message(body.begin(), body.end()), (flags & 1U) != 0);
    if ((flags & 8U) != 0) {
      candidate.end.reset();
      break;
    }
    if ((flags & 4U) != 0) listen(judge, candidate);
    require(candidate.sent.empty() || (flags & 16U) == 0 || judge.has_more());
  }
  while (!candidate.sent.empty()) listen(judge, candidate);
  return 0;
}
