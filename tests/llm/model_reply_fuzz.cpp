// Whatever a server sends, as a body, as an error or as a stream, becomes a reply in UTF-8 or a named
// failure.
#include <cstdint>
#include <string>

#include <kernelsmith/llm/protocol.hpp>

#include "fuzz.hpp"
#include "sse.hpp"
#include "wire.hpp"

using namespace kernelsmith;

namespace {

void check(const Attempt<ModelReply>& reply) {
  if (reply) {
    llm::Json(reply->text + reply->reasoning + reply->finish_detail).dump();  // throws for other bytes
  } else {
    require(!reply.error().error.message.empty());
    llm::Json(reply.error().error.message).dump();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto protocol = static_cast<Protocol>(data[0] % 3);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(decode_reply(protocol, bytes));
  check(decode_failure(429, bytes));
  const auto decoder = make_stream_decoder(protocol);
  bool failed = false;
  llm::SseParser parser(1 << 20, [&](std::string_view event, std::string_view event_data) {
    if (const auto taken = decoder->take(event, event_data); !taken) {
      check(taken.error());
      failed = true;
    }
    return !failed;
  });
  parser.feed(bytes);
  if (!failed) check(decoder->finish());
  return 0;
}
