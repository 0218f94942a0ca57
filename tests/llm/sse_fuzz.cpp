// A stream gives the same events however it is cut: the first byte says into pieces of how many bytes.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fuzz.hpp"
#include "sse.hpp"

using namespace kernelsmith;

namespace {

std::vector<std::pair<std::string, std::string>> parse(std::string_view stream, std::size_t piece) {
  std::vector<std::pair<std::string, std::string>> events;
  llm::SseParser parser(1 << 20, [&](std::string_view event, std::string_view data) {
    events.emplace_back(event, data);
    return true;
  });
  for (std::size_t i = 0; i < stream.size(); i += piece) parser.feed(stream.substr(i, piece));
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  require(parse(stream, std::size_t{1} + data[0]) == parse(stream, size));
  return 0;
}
