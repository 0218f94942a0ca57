// An error's words, in the forms that servers have for them: shown, and read for what they mean.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Complaint, IsFoundInEveryFormOfAnError) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([{"error": {"code": 400, "message": "no such field", "status": "INVALID_ARGUMENT"}}])",
       "no such field"},
      {R"({"detail": "no such field"})", "no such field"},
      {R"({"detail": [{"loc": ["body", "messages", 0], "msg": "field required", "input": "PROMPT"}]})",
       "status 400: body.messages.0: field required"},
      {R"({"detail": {"error": {"message": "nested"}}})", "nested"},
      {R"({"errors": [{"code": 10000, "message": "first"}, {"message": "second"}]})", "first: second"},
      {R"({"errors": {"model": ["unknown"]}})", "model: unknown"},
      {R"({"msg": "no such field"})", "no such field"},
      {R"({"error": "invalid_thing", "error_description": "no such thing"})", "no such thing"},
      {R"({"title": "Bad", "detail": "no such field", "status": 400})", "no such field: Bad"},
      {R"({"error": {"message": "Provider returned error", "code": 400, "metadata": {"provider_name": "p",
           "raw": "{\"error\": {\"message\": \"top_k is too large\"}}"}}})",
       "Provider returned error: top_k is too large"},
      {R"({"error": {"message": "Provider returned error", "metadata": {"raw": "plain words"}}})",
       "Provider returned error: plain words"},
      {R"({"base_resp": {"status_code": 2013, "status_msg": "invalid params"}})", "invalid params"},
      {R"({"success": false, "reasons": ["no such field"]})", "no such field"},
      {R"({"success": false, "request": 17})", "request: 17, success: false"},
      {R"(["no such field"])", "no such field"},
      {R"("no such field")", "no such field"},
      {"no such field", "no such field"},
  };
  for (const auto& [body, said] : cases) {
    const CallFailure failure = decode_failure(400, body);
    EXPECT_EQ(failure.error.code, ErrorCode::invalid_argument) << body;
    EXPECT_THAT(failure.error.message, HasSubstr(said)) << body;
    EXPECT_THAT(failure.error.message, Not(HasSubstr("PROMPT"))) << body;
    EXPECT_THAT(failure.error.message, Not(HasSubstr("no reason given"))) << body;
  }
}

struct Case {
  int status;
  const char* body;
  ErrorCode code;
  bool transient = false;
};

TEST(Complaint, ItsWordsTellWhatItIs) {
  const Case cases[] = {
      {402, R"({"error": {"message": "This request requires more credits"}})", ErrorCode::rate_limited},
      {400, R"({"error": {"type": "budget_exceeded", "message": "Budget has been exceeded!"}})",
       ErrorCode::rate_limited},
      {400, R"([{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}])",
       ErrorCode::permission},
      {400, R"({"code": "InvalidApiKey", "message": "Invalid API-key provided."})", ErrorCode::permission},
      {413, R"({"errors": [{"message": "prompt is too long"}]})", ErrorCode::too_long},
      {400, R"({"error": {"message": "Provider returned error", "metadata": {"raw":
                "{\"error\": {\"code\": \"context_length_exceeded\", \"message\": \"x\"}}"}}})",
       ErrorCode::too_long},
      {400, "the context window is full", ErrorCode::too_long},
      {429, R"({"detail": "Unauthorized bursts"})", ErrorCode::rate_limited, true},
      {429, R"({"error": {"code": "insufficient_quota", "message": "pay"}})", ErrorCode::rate_limited},
      {529, R"({"type": "error", "error": {"type": "overloaded_error"}})", ErrorCode::server_failed, true},
      {500, "<html>oops</html>", ErrorCode::server_failed, true},
      {401, R"({"error": {"message": "bad key"}})", ErrorCode::permission},
      {404, R"({"error": "no such model"})", ErrorCode::not_found},
      {302, "", ErrorCode::bad_reply},
      {422, R"({"error": {"message": "unknown parameter"}})", ErrorCode::invalid_argument},
  };
  for (const Case& c : cases) {
    const CallFailure failure = decode_failure(c.status, c.body);
    EXPECT_EQ(failure.error.code, c.code) << c.body << "\n" << failure.error.message;
    EXPECT_EQ(failure.transient, c.transient) << c.body;
    EXPECT_THAT(failure.error.message, HasSubstr("status " + std::to_string(c.status))) << c.body;
  }
}

TEST(Complaint, EachOfItsWordsHasAMeaning) {
  const std::pair<ErrorCode, std::vector<const char*>> meanings[] = {
      {ErrorCode::too_long,
       {"context length", "context window", "context size", "prompt is too long", "input is too long",
        "too many input tokens", "maximum prompt length", "input token count"}},
      {ErrorCode::rate_limited,
       {"insufficient_quota", "exceeded your current quota", "credit balance is too low",
        "insufficient balance", "insufficient credit", "payment required", "budget has been exceeded",
        "used all available credits"}},
      {ErrorCode::permission,
       {"invalid api key", "incorrect api key", "api key not valid", "no api key", "missing api key",
        "authentication_error", "authentication failed", "unauthenticated", "unauthorized"}},
  };
  for (const auto& [code, words] : meanings)
    for (const std::string said : words)
      EXPECT_EQ(decode_failure(400, R"({"message": "The )" + said + " is it.\"}").error.code, code) << said;
  const std::pair<const char*, ErrorCode> kinds[] = {
      {"billing_error", ErrorCode::rate_limited},      {"budget_exceeded", ErrorCode::rate_limited},
      {"rate_limit_error", ErrorCode::rate_limited},   {"RESOURCE_EXHAUSTED", ErrorCode::rate_limited},
      {"too_many_requests", ErrorCode::rate_limited},  {"permission_error", ErrorCode::permission},
      {"not_found_error", ErrorCode::not_found},       {"invalid_request_error", ErrorCode::invalid_argument},
      {"invalid_prompt", ErrorCode::invalid_argument}, {"BadRequestError", ErrorCode::invalid_argument},
  };
  for (const auto& [kind, code] : kinds)
    EXPECT_EQ(decode_reply(Protocol::messages, R"({"error": {"type": ")" + std::string(kind) + "\"}}")
                  .error()
                  .error.code,
              code)
        << kind;
}

TEST(Complaint, AStatusThatPassesIsTransient) {
  for (const int status : {408, 409, 425, 429, 500, 502, 503, 504, 529}) {
    const CallFailure failure = decode_failure(status, "");
    EXPECT_TRUE(failure.transient) << status;
    EXPECT_EQ(failure.overloaded, status == 429 || status == 503 || status == 529) << status;
  }
}

TEST(Complaint, WithAGoodStatusIsAFailureAllTheSame) {
  const Case cases[] = {
      {200, R"({"success": false})", ErrorCode::server_failed, true},
      {200, R"({"success": false, "message": "try again"})", ErrorCode::server_failed, true},
      {200, R"({"success": false, "errors": [{"message": "Invalid API key"}]})", ErrorCode::permission},
      {200, R"({"code": 401, "msg": "who are you?"})", ErrorCode::permission},
      {200, R"({"code": "404", "msg": "which model?"})", ErrorCode::not_found},
      {200, R"({"detail": "Insufficient credits"})", ErrorCode::rate_limited},
      {200, R"([{"error": {"message": "overloaded", "type": "overloaded_error"}}])", ErrorCode::server_failed,
       true},
      {200, R"({"error": {"type": "RateLimitError", "message": "slow"}})", ErrorCode::rate_limited, true},
      {200, R"({"object": "error", "message": "maximum context length", "type": "BadRequestError"})",
       ErrorCode::too_long},
      {200, R"({"reason": "the context window is full"})", ErrorCode::too_long},
      {200, R"({"weather": "fine"})", ErrorCode::bad_reply, true},
      {200, R"(["oh"])", ErrorCode::bad_reply, true},
  };
  for (const Protocol protocol : {Protocol::chat_completions, Protocol::responses, Protocol::messages})
    for (const Case& c : cases) {
      const auto reply = decode_reply(protocol, c.body);
      ASSERT_FALSE(reply) << c.body;
      EXPECT_EQ(reply.error().error.code, c.code) << c.body << "\n" << reply.error().error.message;
      EXPECT_EQ(reply.error().transient, c.transient) << c.body;
    }
  EXPECT_THAT(decode_reply(Protocol::messages, R"({"weather": "fine"})").error().error.message,
              HasSubstr("weather: fine"));
}

TEST(Complaint, AReplyWithinAListIsTaken) {
  const auto reply = decode_reply(
      Protocol::chat_completions,
      R"([{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "errors": [], "success": true}])");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "hi");
}

}  // namespace
}  // namespace kernelsmith
