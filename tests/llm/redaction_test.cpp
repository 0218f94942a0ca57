// What leaves an attempt: no key in any text, whatever is cut, lower-cased or escaped behind it.
#include "redaction.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith::llm {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kKey = "sk-AbCdEfGh1234567890ZzYyXxEnd";
const Secret kSecret{kKey};

std::string told(int status, const std::string& body) {
  return describe(redacted(decode_failure(status, body).error, kSecret));
}

TEST(Redaction, ComesBeforeAMessageIsCut) {
  for (std::size_t before = 300; before < 520; ++before) {
    const std::string body = std::string(before, 'x') + kKey;
    EXPECT_THAT(told(401, body), Not(HasSubstr("sk-AbCdE"))) << before;
    EXPECT_THAT(told(401, R"({"error": {"message": ")" + body + "\"}}"), Not(HasSubstr("sk-AbCdE")))
        << before;
  }
}

TEST(Redaction, FindsAKeyInEveryPlaceOfAnError) {
  const std::string key = kKey, torn = R"(sk-AbCdEfGh\t1234567890\u000aZzYyXxEnd)";
  for (const std::string& body : std::vector<std::string>{
           R"({"error": {"type": ")" + key + "\"}}", R"({"error": {"code": ")" + key + "\"}}",
           R"({"error": {"message": "sk-AbCdEfGh\t1234567890\nZzYyXxEnd"}})",
           R"({"error": {"message": "sk-AbCdEfGh\u00312\u200b34567890ZzYyXxEnd"}})",
           R"({"message": "SK-ABCDEFGH1234567890ZZYYXXEND"})", R"({"a": ")" + torn + "\"}",
           R"({"errors": [{"detail": ")" + torn + "\"}]}", "[\"" + torn + "\"]",
           R"({"metadata": {"raw": "{\"msg\": \")" + key + R"(\"}"}})",
           "sk-AbCdEfGh\t1234567890\xFFZzYyXxEnd"}) {
    const std::string text = told(400, body);
    EXPECT_THAT(text, HasSubstr("[key]")) << body;
    EXPECT_THAT(text, Not(HasSubstr("1234567890"))) << body;
  }
}

TEST(Redaction, LeavesAShortMessageOfPrintableCharacters) {
  EXPECT_LT(told(500, std::string(100'000, '\x1B') + "\xFF").size(), 1000u);
  const std::string text = told(500, R"({"message": "a\u001b[2J\u009b31m\u202eb"})");
  for (const char* control : {"\x1B", "\xC2\x9B", "\xE2\x80\xAE"})
    EXPECT_THAT(text, Not(HasSubstr(control))) << text;
}

TEST(Redaction, ATraceThatSpellsTheKeyGoes) {
  ModelReply reply;
  reply.text = reply.reasoning = "fine";
  reply.model = std::string("m-") + kKey;
  reply.id = kKey;
  reply.trace.tokens = {"fi", "ne"};
  reply.trace.token_ids = {1, 2};
  const ModelReply kept = redacted(reply, kSecret);
  EXPECT_EQ(kept.model, "m-[key]");
  EXPECT_EQ(kept.id, "[key]");
  EXPECT_EQ(kept.trace, reply.trace);

  ModelReply spelt = reply;
  spelt.trace.tokens = {"sk-AbCdEf", "Gh1234567890", "ZzYyXxEnd"};
  EXPECT_EQ(redacted(spelt, kSecret).trace, TokenTrace{});

  ModelReply reasoned = reply;
  reasoned.reasoning = std::string("the key is ") + kKey;
  EXPECT_EQ(redacted(reasoned, kSecret).trace, TokenTrace{});
  EXPECT_EQ(redacted(reasoned, kSecret).reasoning, "the key is [key]");
}

}  // namespace
}  // namespace kernelsmith::llm
