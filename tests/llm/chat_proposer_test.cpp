// The chat proposer against the scripted server: each kind of reply is a child or a named refusal, with its
// cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/llm/chat_proposer.hpp>

#include "client_support.hpp"

namespace kernelsmith {
namespace {

using testing::HasSubstr;

constexpr const char* kSeed =
    "// EVOLVE-BLOCK-START\nvoid scale(float* y) { y[0] = 1; }\n// EVOLVE-BLOCK-END\n";

Task a_task() {
  Task task;
  task.name = "scale";
  task.backend = "cpu";
  task.entry = "scale";
  task.seed = Source::create({{"seed.cpp", kSeed}}).value();
  task.reference = task.seed;
  return task;
}

ProposalRequest a_request(const Task& task, Operator op = Operator::rewrite) {
  ProposalRequest request;
  request.op = op;
  const auto program = std::make_shared<const Program>(Program{ProgramId{7}, task.seed, {}, Origin::seed});
  request.selection.parent = std::make_shared<const Individual>(
      Individual{program, Acceptance{Metrics::create(Measurement::exact(1)).value(), {}}});
  return request;
}

class ChatProposerTest : public testing::Test {
 protected:
  Result<Proposal> propose(const std::string& text, const std::string& finish = "stop",
                           std::string model = "") {
    const nlohmann::json body = {{"choices", {{{"message", {{"content", text}}}, {"finish_reason", finish}}}},
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
            PromptBuilder::create(task).value(), task,
            {{.name = "first", .max_output_tokens = 4000}, {.name = "second"}},
            PriceTable::read("version: 1\nprices: [{model: first, input: 1, output: 4}]\n", "p").value())
            .value();
    ProposalRequest request = a_request(task);
    request.model = std::move(model);
    std::promise<Result<Proposal>> answer;
    proposer->start(std::move(request), {}, [&](Result<Proposal> p) { answer.set_value(std::move(p)); });
    return answer.get_future().get();
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
  EXPECT_TRUE(proposal->prompt);
  const auto body = nlohmann::json::parse(sent_);
  EXPECT_EQ(body["model"], "first");
  EXPECT_EQ(body["max_tokens"], 4000);
  EXPECT_THAT(body["messages"].back()["content"].get<std::string>(), HasSubstr("y[0] = 1;"));
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

TEST_F(ChatProposerTest, OtherRepliesAreNamedRefusals) {
  expect_refusal(propose("I would tile the loop."), RefusalCode::no_code);
  expect_refusal(propose(""), RefusalCode::empty_reply);
  expect_refusal(propose("", "length"), RefusalCode::truncated);
  expect_refusal(propose("```cpp\n// EVOLVE-BLOCK-START\nvoid sc", "length"), RefusalCode::truncated);
  expect_refusal(propose("no", "content_filter"), RefusalCode::declined);
  expect_refusal(propose("<<<<<<< SEARCH\nnot there\n=======\nx\n>>>>>>> REPLACE\n"),
                 RefusalCode::edit_unmatched);
}

TEST_F(ChatProposerTest, WithoutAModelThereIsNone) {
  const Task task = a_task();
  const auto client =
      ModelClient::create({Protocol::chat_completions, "https://localhost/v1", {}, ""}).value();
  const auto prompts = PromptBuilder::create(task).value();
  EXPECT_FALSE(make_chat_proposer(client, prompts, task, {}));
  EXPECT_FALSE(make_chat_proposer(client, prompts, task, {{.name = "a"}, {.name = "a"}}));
}

}  // namespace
}  // namespace kernelsmith
