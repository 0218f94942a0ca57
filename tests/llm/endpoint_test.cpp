// Which servers a key is sent to, and what the environment fills in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/llm/client.hpp>

#include "client_support.hpp"

namespace kernelsmith {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

TEST(Endpoints, ThatWouldBetrayTheKeyAreRefused) {
  const auto check = [](std::string url, std::string key = kTestKey) {
    return check_endpoint({Protocol::chat_completions, std::move(url), Secret(std::move(key)), ""});
  };
  EXPECT_TRUE(check("https://api.example.com/v1"));
  EXPECT_TRUE(check("http://localhost:8000/v1"));
  EXPECT_TRUE(check("http://127.0.0.1:8000/v1"));
  EXPECT_TRUE(check("http://[::1]:8000/v1"));
  EXPECT_TRUE(check("http://gpu-box:8000/v1", ""));
  for (const char* url : {"http://gpu-box:8000/v1", "ftp://host/v1", "https://me:secret@host/v1",
                          "https://h/v1?a=b", "https://h/v1#f", "", "not a url", "http://127.example.com/v1",
                          "http://127.0.0.256/v1", "http://127.0.0.1.5/v1"}) {
    const Status status = check(url);
    ASSERT_FALSE(status) << url;
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(describe(status.error()), Not(AnyOf(HasSubstr(kTestKey), HasSubstr("secret"))));
  }
  EXPECT_FALSE(check("https://h/v1", "two\r\nX-Evil: lines"));
  for (const char* prefix : {"https://h/", "https://h/v1?key="}) {
    const Status status = check(std::string(prefix) + kTestKey);
    ASSERT_FALSE(status) << prefix;
    EXPECT_THAT(describe(status.error()), Not(HasSubstr(kTestKey)));
  }
}

TEST(Endpoints, OfWellKnownProvidersWantAKey) {
  for (const char* url :
       {"https://api.openai.com/v1", "https://API.OpenAI.com/v1", "https://eu.api.openai.com:443/v1",
        "https://api.anthropic.com/v1", "https://openrouter.ai/api/v1"})
    EXPECT_TRUE(wants_key(url)) << url;
  for (const char* url :
       {"http://localhost:8000/v1", "http://gpu-box/v1", "https://gateway.example/v1",
        "https://notopenai.com/v1", "https://openai.com.example/v1", "https://h/openai.com", "", "no url"})
    EXPECT_FALSE(wants_key(url)) << url;
}

TEST(Endpoints, AreFilledInFromTheEnvironment) {
  setenv("OPENAI_BASE_URL", "https://gateway/v1/", 1);
  setenv("OPENAI_API_KEY", "from-env", 1);
  setenv("ANTHROPIC_BASE_URL", "https://gateway", 1);
  unsetenv("ANTHROPIC_API_KEY");
  const Endpoint chat = with_environment({});
  EXPECT_EQ(chat.base_url, "https://gateway/v1");
  EXPECT_EQ(chat.key.reveal(), "from-env");
  const Endpoint messages = with_environment({Protocol::messages, "", {}, ""});
  EXPECT_EQ(messages.base_url, "https://gateway/v1");
  EXPECT_TRUE(messages.key.empty());
  unsetenv("OPENAI_BASE_URL");
  unsetenv("ANTHROPIC_BASE_URL");
  EXPECT_EQ(with_environment({}).base_url, "https://api.openai.com/v1");
  EXPECT_EQ(with_environment({Protocol::chat_completions, "https://mine", Secret("k"), ""}).key.reveal(),
            "k");
}

}  // namespace
}  // namespace kernelsmith
