// What a call looks like on the wire, in each protocol.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith {
namespace {

using Json = nlohmann::json;

ModelCall call(std::string model = "m") {
  ModelCall result;
  result.model = std::move(model);
  result.messages = {{Role::system, "be brief"}, {Role::user, "hello"}};
  result.max_output_tokens = 100;
  result.temperature = 0.5;
  return result;
}

Json encoded(Protocol protocol, const ModelCall& what) {
  const auto body = encode_call(protocol, what, traits_of(protocol, what.model));
  EXPECT_TRUE(body);
  return Json::parse(body.value());
}

TEST(Encode, ChatCompletions) {
  EXPECT_EQ(encoded(Protocol::chat_completions, call()), Json::parse(R"({
    "model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 100, "temperature": 0.5,
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]})"));
}

TEST(Encode, AReasoningModelGetsWhatItTakes) {
  ModelCall what = call("openai/o3-mini");
  what.reasoning_effort = "low";
  what.stream = false;
  EXPECT_EQ(encoded(Protocol::chat_completions, what), Json::parse(R"({
    "model": "openai/o3-mini", "stream": false, "max_completion_tokens": 100, "reasoning_effort": "low",
    "messages": [{"role": "developer", "content": "be brief"}, {"role": "user", "content": "hello"}]})"));
}

TEST(Encode, Responses) {
  ModelCall what = call("gpt-5");
  what.reasoning_effort = "high";
  EXPECT_EQ(encoded(Protocol::responses, what), Json::parse(R"({
    "model": "gpt-5", "stream": true, "max_output_tokens": 100, "store": false, "reasoning": {"effort": "high"},
    "instructions": "be brief", "input": [{"role": "user", "content": "hello"}]})"));
}

TEST(Encode, Messages) {
  ModelCall what = call();
  what.max_output_tokens.reset();
  EXPECT_EQ(encoded(Protocol::messages, what), Json::parse(R"({
    "model": "m", "stream": true, "max_tokens": 8192, "temperature": 0.5, "system": "be brief",
    "messages": [{"role": "user", "content": "hello"}]})"));
}

TEST(Encode, LogprobsAndTokenIdsWhereTheProtocolCan) {
  ModelCall what = call();
  what.logprobs = what.token_ids = true;
  const Json chat = encoded(Protocol::chat_completions, what);
  EXPECT_EQ(chat["logprobs"], true);
  EXPECT_EQ(chat["return_token_ids"], true);
  const Json responses = encoded(Protocol::responses, what);
  EXPECT_EQ(responses["include"], Json::parse(R"(["message.output_text.logprobs"])"));
  EXPECT_FALSE(responses.contains("return_token_ids"));
  EXPECT_EQ(encoded(Protocol::messages, what), encoded(Protocol::messages, call()));
}

TEST(Encode, AnEffortGoesToWhoeverMayTakeIt) {
  for (const auto& [model, takes] : {std::pair{"o3", true}, {"my-own-model", true}, {"gpt-4o-mini", false}}) {
    ModelCall what = call(model);
    what.reasoning_effort = "high";
    EXPECT_EQ(encoded(Protocol::chat_completions, what).contains("reasoning_effort"), takes) << model;
    EXPECT_EQ(encoded(Protocol::responses, what).contains("reasoning"), takes) << model;
  }
}

TEST(Encode, ExtraBodyIsLaidOver) {
  ModelCall what = call();
  what.extra_body = R"({"top_k": 20, "temperature": null})";
  const Json body = encoded(Protocol::chat_completions, what);
  EXPECT_EQ(body["top_k"], 20);
  EXPECT_FALSE(body.contains("temperature"));
  for (const char* wrong : {"[1]", "{", R"({"stream": true})", R"({"messages": []})", R"({"model": "x"})"}) {
    what.extra_body = wrong;
    EXPECT_EQ(encode_call(Protocol::messages, what, traits_of(Protocol::messages, "m")).error().code,
              ErrorCode::invalid_argument);
  }
}

TEST(Encode, WhatAMessageOfChatCompletionsHoldsBesides) {
  ModelCall what = call();
  what.messages = {{Role::user, "found", R"({"role": "tool", "tool_call_id": "a"})"}};
  EXPECT_EQ(encoded(Protocol::chat_completions, what)["messages"],
            Json::parse(R"([{"role": "tool", "tool_call_id": "a", "content": "found"}])"));
}

TEST(Encode, RefusesBytesThatAreNotUtf8) {
  ModelCall what = call();
  what.messages[1].text = "\xFF";
  EXPECT_EQ(encode_call(Protocol::responses, what, traits_of(Protocol::responses, "m")).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace kernelsmith
