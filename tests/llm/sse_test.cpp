#include "sse.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace kernelsmith::llm {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

/// Parses `stream` in pieces of `piece` bytes.
Events parse(std::string_view stream, std::size_t piece) {
  Events events;
  SseParser parser(1 << 20, [&](std::string_view event, std::string_view data) {
    events.emplace_back(event, data);
    return true;
  });
  for (std::size_t i = 0; i < stream.size(); i += piece) EXPECT_TRUE(parser.feed(stream.substr(i, piece)));
  return events;
}

TEST(Sse, EveryLineEndingAndEveryCutGivesTheSameEvents) {
  const Events expected = {{"", "one"}, {"ping", "two\nlines"}, {"", ""}};
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string stream =
        "\xEF\xBB\xBF"
        "data: one" +
        end + end + ": comment" + end + "event: ping" + end + "id: 7" + end + "data:two" + end +
        "data: lines" + end + end + "data" + end + end + "event: without data" + end + end;
    for (std::size_t piece = 1; piece <= stream.size(); ++piece) EXPECT_EQ(parse(stream, piece), expected);
  }
}

TEST(Sse, AnUnfinishedEventIsDropped) { EXPECT_TRUE(parse("data: cut off\n", 3).empty()); }

TEST(Sse, AnUnfinishedEventIsThereForWhoAsks) {
  for (const char* stream :
       {"data: one\n\ndata: two", "data: one\n\ndata: two\n", "data: one\n\ndata: two\n\n"}) {
    std::vector<std::string> data;
    SseParser parser(100, [&](std::string_view, std::string_view text) {
      data.emplace_back(text);
      return true;
    });
    ASSERT_TRUE(parser.feed(stream));
    parser.end();
    parser.end();
    EXPECT_EQ(data, (std::vector<std::string>{"one", "two"}));
  }
}

TEST(Sse, AnEventsSizeIsBounded) {
  SseParser parser(100, [](auto, auto) { return true; });
  EXPECT_TRUE(parser.feed("data: " + std::string(50, 'x') + "\n"));
  EXPECT_FALSE(parser.feed("data: " + std::string(50, 'x') + "\n"));
  EXPECT_TRUE(parser.too_large());
}

TEST(Sse, TheReceiverCanEndIt) {
  int events = 0;
  SseParser parser(100, [&](auto, auto) { return ++events < 2; });
  EXPECT_FALSE(parser.feed("data: 1\n\ndata: 2\n\ndata: 3\n\n"));
  EXPECT_EQ(events, 2);
  EXPECT_FALSE(parser.too_large());
}

}  // namespace
}  // namespace kernelsmith::llm
