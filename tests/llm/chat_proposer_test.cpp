// The chat proposer against the scripted server: each kind of reply is a child or a named refusal, with its
// cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>

#include "client_support.hpp"
#include "scale_task.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;

class ChatProposerTest : public testing::Test {
 protected:
  Result<Proposal> propose(const std::string& text, const std::string& finish = "stop",
                           std::string model = "", const std::string& reasoning = "") {
    const nlohmann::json message = {{"content", text}, {"reasoning_content", reasoning}};
    const nlohmann::json body = {{"choices", {{{"message", message}, {"finish_reason", finish}}}},
                                 {"usage",
                                  {{"prompt_tokens", 1000},
                                   {"completion_tokens", 500},
                                   {"completion_tokens_details", {{"reasoning_tokens", 100}}}}}};
    TlsServer server(make_certificate(ca_.identity, {}),
                     [&](const ServerRequest& request, ServerConnection& connection) {
                       sent_ = request.body;
                       return connection.send(http_answer(200, body.dump()));
                     });
    const Task task = a_task();
    const auto proposer =
        make_chat_proposer(
            ModelClient::create(endpoint_of(server, ca_.file), {.retry = {.attempts = 1}}).value(),
            PromptBuilder::create(task).value(),
            {{.name = "first", .max_output_tokens = 4000}, {.name = "second"}},
            PriceTable::read("version: 1\nprices: [{model: first, input: 1, output: 4}]\n", "p").value())
            .value();
    ProposalRequest request = a_request();
    request.model = std::move(model);
    return answer_of<Proposal>([&](auto done) { proposer->start(std::move(request), {}, std::move(done)); })
        .get();
  }

  void expect_refusal(const Result<Proposal>& proposal, RefusalCode code) {
    ASSERT_TRUE(proposal) << describe(proposal.error());
    ASSERT_TRUE(proposal->refusal());
    EXPECT_EQ(proposal->refusal()->code, code);
    EXPECT_EQ(proposal->cost.output_tokens, 500u) << "a refusal is paid for, too";
    EXPECT_TRUE(proposal->prompt);
  }

  TestCa ca_;
  std::string sent_;
};

TEST_F(ChatProposerTest, AReplyWithAProgramIsAChild) {
  const auto proposal =
      propose(std::string("Faster:\n```cpp\n") +
              "// EVOLVE-BLOCK-START\nvoid scale(float* y) { y[0] = 2; }\n// EVOLVE-BLOCK-END\n```\n");
  ASSERT_TRUE(proposal) << describe(proposal.error());
  ASSERT_TRUE(proposal->child());
  EXPECT_THAT(proposal->child()->source.files().front().text, HasSubstr("= 2;"));
  EXPECT_EQ(proposal->child()->parents, std::vector<ProgramId>{ProgramId{7}});
  EXPECT_EQ(proposal->child()->origin, Origin::rewrite);
  EXPECT_DOUBLE_EQ(proposal->cost.usd, 0.001 + 0.002);
  EXPECT_EQ(proposal->cost.input_tokens, 1000u);
  EXPECT_EQ(proposal->cost.reasoning_tokens, 100u);
  EXPECT_EQ(proposal->cost.model, "first");
  EXPECT_EQ(proposal->cost.calls, 1u);
  EXPECT_EQ(proposal->cost.untold, 0u);
  EXPECT_FALSE(proposal->cost.unpriced);
  EXPECT_TRUE(proposal->prompt);
  const auto body = nlohmann::json::parse(sent_);
  EXPECT_EQ(body["model"], "first");
  EXPECT_EQ(body["max_tokens"], 4000);
  EXPECT_THAT(body["messages"].back()["content"].get<std::string>(), HasSubstr("y[0] = 1;"));
}

TEST_F(ChatProposerTest, AProgramThatIsCalledReasoningIsTaken) {
  const std::string program =
      "```cpp\n// EVOLVE-BLOCK-START\nvoid scale(float* y) { y[0] = 2; }\n// EVOLVE-BLOCK-END\n```\n";
  for (const char* blank : {"", " \n"}) {
    const auto proposal = propose(blank, "stop", "", "Let me think.\n</think>\n" + program);
    ASSERT_TRUE(proposal) << describe(proposal.error());
    ASSERT_TRUE(proposal->child()) << proposal->refusal()->detail;
    EXPECT_THAT(proposal->child()->source.files().front().text, HasSubstr("= 2;"));
  }
  const auto said = [&](const std::string& finish, const std::string& reasoning) {
    const auto proposal = propose("", finish, "", reasoning);
    return proposal && proposal->refusal() ? *proposal->refusal() : Refusal{};
  };
  const Refusal none = said("stop", "I would tile the loop.");
  EXPECT_EQ(none.code, RefusalCode::empty_reply);
  EXPECT_THAT(none.detail, HasSubstr("only reasoning"));
  EXPECT_THAT(none.detail, HasSubstr("no_code"));
  const Refusal cut = said("length", program);
  EXPECT_EQ(cut.code, RefusalCode::truncated) << "it was a draft";
  EXPECT_THAT(cut.detail, HasSubstr("within the reasoning"));
  EXPECT_EQ(said("content_filter", program).code, RefusalCode::declined);
  const auto texts = propose("I would tile the loop.", "stop", "", program);
  expect_refusal(texts, RefusalCode::no_code);
}

TEST_F(ChatProposerTest, TheRequestNamesTheModel) {
  ASSERT_TRUE(propose("no code", "stop", "second"));
  EXPECT_EQ(nlohmann::json::parse(sent_)["model"], "second");
  sent_.clear();
  const auto unknown = propose("no code", "stop", "third");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(sent_.empty());
}

TEST_F(ChatProposerTest, WithoutAPriceTheCostIsUnknownAndNotZero) {
  const auto proposal = propose("no code", "stop", "second");
  ASSERT_TRUE(proposal);
  EXPECT_TRUE(proposal->cost.unpriced);
  EXPECT_EQ(proposal->cost.input_tokens, 1000u);
}

/// Answers the calls of one proposal, one after another, as `script` says.
class BillTest : public testing::Test {
 protected:
  using Step = std::function<bool(ServerConnection&)>;

  Result<Proposal> propose(const std::vector<Step>& script, unsigned attempts, Protocol protocol) {
    TlsServer server(make_certificate(ca_.identity, {}),
                     [&](const ServerRequest& request, ServerConnection& connection) {
                       return script.at(request.number)(connection);
                     });
    ClientOptions options;
    options.retry = {.attempts = attempts, .first_pause = std::chrono::milliseconds(1)};
    const Task task = a_task();
    const auto proposer =
        make_chat_proposer(
            ModelClient::create(endpoint_of(server, ca_.file, protocol), std::move(options)).value(),
            PromptBuilder::create(task).value(), {{.name = "m"}},
            PriceTable::read("version: 1\nprices: [{model: m, input: 1, output: 4}]\n", "p").value())
            .value();
    ProposalRequest request = a_request();
    if (tell_lost_) request.lost = [this](const Cost& cost) { lost_.push_back(cost); };
    return answer_of<Proposal>([&](auto done) { proposer->start(std::move(request), {}, std::move(done)); })
        .get();
  }

  static bool end_with(ServerConnection& connection, const std::string& bytes) {
    connection.send(closing(bytes));
    return false;  // and the connection is closed
  }

  /// A stream of Messages that reports its input and breaks off.
  static bool broken_stream(ServerConnection& connection) {
    return end_with(
        connection,
        stream_head() +
            chunk("event: message_start\ndata: {\"type\": \"message_start\", \"message\": {\"usage\": "
                  "{\"input_tokens\": 700, \"output_tokens\": 1}}}\n\n") +
            chunk(
                "event: content_block_delta\ndata: {\"type\": \"content_block_delta\", \"delta\": {\"type\": "
                "\"text_delta\", \"text\": \"a\"}}\n\n"));
  }

  static bool message(ServerConnection& connection) {
    return end_with(connection, http_answer(200, R"({"content": [{"type": "text", "text": "no code"}],
      "stop_reason": "end_turn", "usage": {"input_tokens": 1000, "output_tokens": 500}})"));
  }

  bool tell_lost_ = false;
  std::vector<Cost> lost_;  ///< filled on the client's thread, before the answer
  TestCa ca_;
};

/// What is known of each call costs what it says; what is not is guessed from the texts, a prompt of some
/// hundred tokens among them.
TEST_F(BillTest, HoldsEveryAttempt) {
  std::string words;
  for (int i = 0; i < 2000; ++i) words += "word ";
  const auto answer = [](const std::string& bytes) {
    return [bytes](ServerConnection& connection) { return end_with(connection, bytes); };
  };
  const std::string event = "data: {\"choices\": [{\"delta\": {\"content\": \"" + words + "\"}}]}\n\n";
  const std::string start =
      "data: {\"type\": \"message_start\", \"message\": {\"usage\": {\"input_tokens\": 700, "
      "\"output_tokens\": 1}}}\n\n";
  const std::string piece =
      "data: {\"type\": \"content_block_delta\", \"delta\": {\"type\": \"text_delta\", \"text\": \"" + words +
      "\"}}\n\n";
  const std::string early =
      good_body(words).insert(1, R"("usage": {"prompt_tokens": 1, "completion_tokens": 1}, )");
  const std::string no_choices = R"({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}})";
  struct Expected {
    const char* what;
    Protocol protocol;
    std::vector<Step> script;
    bool fails;
    unsigned calls, untold;
    std::uint64_t input, output;
    double least_guess, most_guess;  // in tokens of output
  };
  constexpr auto kChat = Protocol::chat_completions, kMessages = Protocol::messages;
  const Expected cases[] = {
      {"broken off, then a reply", kMessages, {broken_stream, message}, false, 2, 0, 1700, 501, 0, 10},
      {"broken off for good", kMessages, {broken_stream, broken_stream}, true, 2, 0, 1400, 2, 0, 10},
      {"a stream that told nothing",
       kChat,
       {answer(stream_head() + chunk(event))},
       true,
       1,
       1,
       0,
       0,
       2025,
       6000},
      {"text behind the count",
       kMessages,
       {answer(stream_head() + chunk(start + piece))},
       true,
       1,
       0,
       700,
       1,
       1800,
       2200},
      {"a body that was cut off",
       kChat,
       {answer(http_answer(200, good_body(words)).substr(0, 5000))},
       true,
       1,
       1,
       0,
       0,
       925,
       6000},
      {"an error behind words",
       kChat,
       {answer(stream_head() + chunk(event) + chunk("data: {\"error\": {\"message\": \"gone\"}}\n\n") +
               last_chunk())},
       true,
       1,
       1,
       0,
       0,
       2025,
       6000},
      {"usage told too early", kChat, {answer(http_answer(200, early))}, false, 1, 0, 1, 1, 2025, 6000},
      {"usage without a reply", kChat, {answer(http_answer(200, no_choices))}, true, 1, 0, 10, 5, 0, 1000},
      {"no usage at all",
       kChat,
       {answer(stream_head() + chunk(event)), answer(http_answer(200, good_body("no code")))},
       false,
       2,
       2,
       0,
       0,
       2050,
       8000},
  };
  for (const Expected& c : cases) {
    const auto proposal = propose(c.script, static_cast<unsigned>(c.script.size()), c.protocol);
    ASSERT_TRUE(proposal) << c.what << describe(proposal.error());
    EXPECT_EQ(proposal->error() != nullptr, c.fails) << c.what;
    const Cost& cost = proposal->cost;
    EXPECT_EQ(cost.calls, c.calls) << c.what;
    EXPECT_EQ(cost.untold, c.untold) << c.what;
    EXPECT_EQ(cost.input_tokens, c.input) << c.what;
    EXPECT_EQ(cost.output_tokens, c.output) << c.what;
    EXPECT_NEAR(cost.usd, 1e-6 * static_cast<double>(c.input + 4 * c.output), 1e-12) << c.what;
    EXPECT_GE(cost.guessed_usd, 4e-6 * c.least_guess) << c.what;
    EXPECT_LE(cost.guessed_usd, 4e-6 * c.most_guess) << c.what;
  }
}

TEST_F(BillTest, WhoWantsToKnowIsToldOfEachLostAttemptAtOnce) {
  tell_lost_ = true;
  const auto proposal = propose({broken_stream, broken_stream, message}, 3, Protocol::messages);
  ASSERT_TRUE(proposal) << describe(proposal.error());
  ASSERT_EQ(lost_.size(), 2u);
  for (const Cost& cost : lost_) {
    EXPECT_EQ(cost.model, "m");
    EXPECT_EQ(cost.calls, 1u);
    EXPECT_EQ(cost.input_tokens, 700u);
    EXPECT_NEAR(cost.usd, 1e-6 * (700 + 4), 1e-12);
  }
  EXPECT_EQ(proposal->cost.calls, 1u) << "the others are reported";
  EXPECT_EQ(proposal->cost.input_tokens, 1000u);
  const auto failed = propose({broken_stream}, 1, Protocol::messages);
  ASSERT_FALSE(failed) << "nothing is left to tell";
  EXPECT_EQ(lost_.size(), 3u);
}

TEST_F(BillTest, ARefusalsOwnWordsAreBounded) {
  const auto declined = [](ServerConnection& connection) {
    return end_with(connection,
                    http_answer(200, R"({"choices": [{"message": {"refusal": ")" + std::string(100'000, 'a') +
                                         R"("}, "finish_reason": "stop"}], "model": "m"})"));
  };
  const auto proposal = propose({declined}, 1, Protocol::chat_completions);
  ASSERT_TRUE(proposal) << describe(proposal.error());
  ASSERT_TRUE(proposal->refusal());
  EXPECT_EQ(proposal->refusal()->code, RefusalCode::declined);
  EXPECT_EQ(proposal->refusal()->detail, std::string(4096, 'a'));
  ModelReply long_name;
  long_name.model = std::string(1000, 'm');
  EXPECT_EQ(kept_of(long_name, {}, {}, 1 << 20).model.size(), 200u);
}

TEST_F(BillTest, AnErrorOfTheServersCostsNothing) {
  const auto refused = [](ServerConnection& connection) {
    return end_with(connection, http_answer(500, R"({"error": {"message": "oh"}})"));
  };
  const auto failed = propose({refused, refused}, 2, Protocol::messages);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::server_failed);
}

TEST_F(ChatProposerTest, OtherRepliesAreNamedRefusals) {
  expect_refusal(propose("I would tile the loop."), RefusalCode::no_code);
  expect_refusal(propose(""), RefusalCode::empty_reply);
  expect_refusal(propose("", "length"), RefusalCode::truncated);
  expect_refusal(propose("```cpp\n// EVOLVE-BLOCK-START\nvoid sc", "length"), RefusalCode::truncated);
  expect_refusal(propose("no", "content_filter"), RefusalCode::declined);
  expect_refusal(propose("<<<<<<< SEARCH\nnot there\n=======\nx\n>>>>>>> REPLACE\n"),
                 RefusalCode::edit_unmatched);
}

TEST(KeptReply, IsBoundedAndSaysSo) {
  ModelReply reply;
  reply.text = "caf\xc3\xa9";
  reply.reasoning = "why";
  reply.model = "m";
  reply.trace = {{"ca", "f\xc3\xa9"}, {-1, -2}, {1, 2}, {3}};
  const Sampling asked{
      .temperature = 0.6, .top_p = 0.95, .max_output_tokens = 512, .reasoning_effort = "low"};
  const KeptReply whole = kept_of(reply, {}, asked, 1000);
  Sampling sampled = asked;
  sampled.finish_reason = "stop";
  EXPECT_EQ(whole, (KeptReply{.model = "m",
                              .text = reply.text,
                              .reasoning = "why",
                              .tokens = reply.trace.tokens,
                              .logprobs = reply.trace.logprobs,
                              .token_ids = {1, 2},
                              .prompt_token_ids = {3},
                              .template_digest = Digest(),
                              .sampling = sampled}));
  Prompt prompt;
  prompt.user = "faster";
  EXPECT_EQ(kept_of(reply, prompt, {}, 1000).user, "faster");
  const KeptReply some = kept_of(reply, {}, {}, 5 + 3 + 10);
  EXPECT_TRUE(some.cut);
  EXPECT_EQ(some.reasoning, "why");
  EXPECT_EQ(some.tokens, std::vector<std::string>{"ca"});
  EXPECT_EQ(some.logprobs, std::vector<double>{-1});
  EXPECT_TRUE(some.token_ids.empty() && some.prompt_token_ids.empty());
  const KeptReply little = kept_of(reply, {}, {}, 4);
  EXPECT_TRUE(little.cut);
  EXPECT_EQ(little.text, "caf") << "characters stay whole";
  EXPECT_TRUE(little.reasoning.empty());
}

TEST_F(ChatProposerTest, WithoutAModelThereIsNone) {
  const Task task = a_task();
  const auto client =
      ModelClient::create({Protocol::chat_completions, "https://localhost/v1", {}, ""}).value();
  const auto prompts = PromptBuilder::create(task).value();
  EXPECT_FALSE(make_chat_proposer(client, prompts, {}));
  EXPECT_FALSE(make_chat_proposer(client, prompts, {{.name = "a"}, {.name = "a"}}));
}

}  // namespace
}  // namespace kernelsmith
