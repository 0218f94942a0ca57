// The manual proposer: requests as files, replies as files beside them.
#include <fstream>
#include <future>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <kernelsmith/llm/manual_proposer.hpp>

#include "queue_folder.hpp"
#include "scale_task.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kReply = "Here:\n```cpp\nvoid scale(float* y) { y[0] = 2; }\n```\n";

class ManualProposerTest : public testing::Test {
 protected:
  std::shared_ptr<Proposer> proposer() {
    const Task task = a_task();
    auto made = make_manual_proposer(PromptBuilder::create(task).value(), task, {folder_, 30ms, 5ms});
    EXPECT_TRUE(made) << describe(made.error());
    return *made;
  }

  std::future<Result<Proposal>> ask(Proposer& proposer, ProposalRequest request, std::stop_token stop = {}) {
    auto answer = std::make_shared<std::promise<Result<Proposal>>>();
    proposer.start(std::move(request), std::move(stop),
                   [answer](Result<Proposal> p) { answer->set_value(std::move(p)); });
    return answer->get_future();
  }

  void lay(const std::string& name, std::string_view text) {
    const fs::path fresh = folder_ / ("." + name);
    std::ofstream(fresh, std::ios::binary) << text;
    fs::rename(fresh, folder_ / name);
  }

  std::string read(const std::string& name) {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  bool is_there(const std::string& name) { return fs::exists(folder_ / name); }

  /// As long as it takes: what is waited for comes from another thread.
  void wait_for(const std::string& name, bool there = true) {
    while (is_there(name) != there) std::this_thread::sleep_for(1ms);
  }

  TemporaryFolder scratch_;
  const fs::path folder_ = scratch_.path() / "queue";
};

TEST_F(ManualProposerTest, ARequestIsAFileAndTheFileBesideItTheAnswer) {
  const auto model = proposer();
  auto answer = ask(*model, a_request(17));
  const auto request = nlohmann::json::parse(read("000017.request.json"));
  EXPECT_EQ(request.at("ticket"), 17);
  EXPECT_EQ(request.at("task"), "scale");
  EXPECT_EQ(request.at("operator"), "rewrite");
  EXPECT_THAT(request.at("messages").back().at("content"), HasSubstr("y[0] = 1"));
  lay("000017.reply.txt", kReply);
  const auto proposal = answer.get();
  ASSERT_TRUE(proposal) << describe(proposal.error());
  ASSERT_TRUE(proposal->child());
  EXPECT_THAT(std::string(proposal->child()->source.main_text()), HasSubstr("y[0] = 2"));
  EXPECT_EQ(proposal->prompt->hex(), request.at("prompt"));
  wait_for("answered/000017.reply.txt");
  wait_for("answered/000017.request.json");
  EXPECT_FALSE(is_there("000017.request.json"));
}

TEST_F(ManualProposerTest, AProgramMayAnswerInJsonWithItsUsage) {
  const auto model = proposer();
  auto answer = ask(*model, a_request(1, Operator::edit));
  lay("000001.reply.json",
      R"({"text": "I will not.", "finish": "declined", "usage": {"input_tokens": 9, "output_tokens": 3}})");
  const auto proposal = answer.get();
  ASSERT_TRUE(proposal && proposal->refusal());
  EXPECT_EQ(proposal->refusal()->code, RefusalCode::declined);
  EXPECT_EQ(proposal->cost.input_tokens, 9u);
  EXPECT_EQ(proposal->cost.output_tokens, 3u);
}

TEST_F(ManualProposerTest, AFileThatIsNoReplyIsComplainedAboutAndReadAgainWhenItChanges) {
  const auto model = proposer();
  auto answer = ask(*model, a_request(1));
  lay("000001.reply.json", R"({"text": "half a)");
  wait_for("000001.error.txt");
  EXPECT_THAT(read("000001.error.txt"), HasSubstr("000001.reply.json is not a reply"));
  EXPECT_EQ(answer.wait_for(0s), std::future_status::timeout);
  lay("000001.reply.json", nlohmann::json{{"text", kReply}}.dump());
  EXPECT_TRUE(answer.get()->child());
  wait_for("000001.error.txt", false);
}

TEST_F(ManualProposerTest, AnEmptyFileIsNotAnAnswerYet) {
  const auto model = proposer();
  auto answer = ask(*model, a_request(1));
  lay("000001.reply.txt", "");
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(answer.wait_for(0s), std::future_status::timeout);
  lay("000001.reply.txt", "no program in here");
  EXPECT_EQ(answer.get()->refusal()->code, RefusalCode::no_code);
}

TEST_F(ManualProposerTest, AStopWithdrawsTheRequest) {
  const auto model = proposer();
  std::stop_source stop;
  auto answer = ask(*model, a_request(1), stop.get_token());
  EXPECT_TRUE(is_there("000001.request.json"));
  stop.request_stop();
  EXPECT_EQ(answer.get().error().code, ErrorCode::cancelled);
  wait_for("000001.request.json", false);
}

TEST_F(ManualProposerTest, WhatWasAnsweredWhileNobodyRanIsTakenWithoutAsking) {
  std::string request;
  {
    const auto model = proposer();
    auto answer = ask(*model, a_request(3));
    request = read("000003.request.json");
  }
  EXPECT_FALSE(is_there("000003.request.json"));
  lay("000003.request.json", request);  // as a killed process leaves it
  lay("000004.request.json", request);
  lay("000003.reply.txt", kReply);
  const auto model = proposer();
  EXPECT_TRUE(is_there("000003.request.json"));
  EXPECT_FALSE(is_there("000004.request.json")) << "nobody waits for it";
  EXPECT_TRUE(ask(*model, a_request(3)).get()->child());
}

TEST_F(ManualProposerTest, AReplyToAnotherPromptIsPutAway) {
  fs::create_directories(folder_);
  lay("000003.request.json", "{\"another\": \"run\"}");
  lay("000003.reply.txt", "no program, and not ours");
  lay("000002.request.json", "{}");
  lay("000002.reply.txt", "its answer was taken before the kill");
  const auto model = proposer();
  auto answer = ask(*model, a_request(3));
  EXPECT_FALSE(is_there("000002.reply.txt"));
  EXPECT_TRUE(is_there("answered/000003.reply.txt"));
  EXPECT_FALSE(is_there("000003.reply.txt"));
  lay("000003.reply.txt", kReply);
  EXPECT_TRUE(answer.get()->child());
}

TEST_F(ManualProposerTest, OneRunHasTheFolder) {
  const auto model = proposer();
  const Task task = a_task();
  const auto second = make_manual_proposer(PromptBuilder::create(task).value(), task, {folder_, 30ms, 5ms});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
}

std::string utf16(std::u16string_view text, bool little) {
  std::string bytes;
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xFF), high = static_cast<char>(unit >> 8);
    bytes += little ? low : high;
    bytes += little ? high : low;
  }
  return bytes;
}

TEST(ReadReply, TakesUtf16) {
  for (const bool little : {true, false})
    for (const char16_t* mark : {u"\uFEFF", u""}) {
      const auto reply =
          read_reply("1.reply.txt", utf16(mark + std::u16string(u"int \u00e9\u4e2d\U0001F600;\n"), little));
      ASSERT_TRUE(std::holds_alternative<ModelReply>(reply));
      EXPECT_EQ(std::get<ModelReply>(reply).text, "int \xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80;\n");
    }
  const auto json = read_reply("1.reply.json", utf16(u"\uFEFF{\"text\": \"hi\"}", true));
  ASSERT_TRUE(std::holds_alternative<ModelReply>(json));
  EXPECT_EQ(std::get<ModelReply>(json).text, "hi");
}

TEST(ReadReply, SpendsNothingOnBytesThatAreNoText) {
  for (const char* bytes : {"caf\xE9;\n", "\xFF\xFE\x01\xD8"}) {
    const auto reply = read_reply("1.reply.txt", bytes);
    ASSERT_TRUE(std::holds_alternative<std::string>(reply));
    EXPECT_NE(std::get<std::string>(reply).find("neither UTF-8 nor UTF-16"), std::string::npos);
  }
}

TEST(ReadReply, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "1.reply.json"},
      {"[]", "object"},
      {"{}", "\"text\""},
      {R"({"text": 7})", "\"text\""},
      {R"({"text": "a", "txt": 7})", "\"txt\""},
      {R"({"text": "a", "finish": "soon"})", "length"},
      {R"({"text": "a", "finish": 3})", "\"finish\""},
      {R"({"text": "a", "usage": {"input_tokens": "many"}})", "usage.input_tokens"},
      {R"({"text": "a", "usage": {"input_tokens": -5}})", "usage.input_tokens"},
      {R"({"text": "a", "usage": {"output_tokens": 1e300}})", "usage.output_tokens"},
      {R"({"text": "a", "usage": 5})", "\"usage\""},
      {"{\"text\": \"\xff\"}", "1.reply.json"},
      {std::string(1 << 20, '['), "not JSON"},
      {"{\n\"text\": x}", "line 2"},
  };
  for (const auto& [text, said] : cases) {
    const auto reply = read_reply("1.reply.json", text);
    ASSERT_TRUE(std::holds_alternative<std::string>(reply)) << said;
    EXPECT_THAT(std::get<std::string>(reply), HasSubstr(said));
  }
  EXPECT_TRUE(std::holds_alternative<ModelReply>(read_reply("1.reply.json", R"({"text": "a"})")));
}

TEST_F(ManualProposerTest, WhatOthersPreparedInTheFolderIsNeitherWaitedForNorFollowed) {
  const auto model = proposer();
  const fs::path theirs = scratch_.path() / "theirs";
  std::ofstream(theirs) << "a file of the user";
  ASSERT_EQ(::mkfifo((folder_ / "000001.request.json").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", folder_ / "000002.request.json");
  for (const char* name : {".000003.request.json.new", ".000003.error.txt.new"})
    fs::create_symlink(theirs, folder_ / name);
  std::vector<std::future<Result<Proposal>>> answers;
  for (const std::uint64_t ticket : {1, 2, 3}) answers.push_back(ask(*model, a_request(ticket)));
  for (const char* number : {"000001", "000002", "000003"}) {
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder_ / (number + std::string(".request.json")))));
    if (number != std::string("000003")) lay(number + std::string(".reply.txt"), kReply);
  }
  lay("000003.reply.json", "{}");
  wait_for("000003.error.txt");
  lay("000003.reply.json", R"({"text": "none"})");
  for (auto& answer : answers) EXPECT_TRUE(answer.get());
  std::ifstream file(theirs);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "a file of the user");
}

TEST_F(ManualProposerTest, AReplyThatWasThereBeforeItsRequestIsNone) {
  const auto model = proposer();
  lay("000001.reply.json", R"({"text": "for another prompt", "usage": {"output_tokens": 1}})");
  auto answer = ask(*model, a_request(1));
  EXPECT_TRUE(is_there("answered/000001.reply.json"));
  lay("000001.reply.json", R"({"text": "for this one", "usage": {"output_tokens": 2}})");
  EXPECT_EQ(answer.get()->cost.output_tokens, 2u);
}

TEST(ReadReply, ALinkIsNoReply) {
  const TemporaryFolder scratch;
  auto queue = QueueFolder::open(scratch.path()).value();
  ASSERT_TRUE(queue.post({1}, "{}"));
  fs::create_symlink("/etc/hostname", scratch.path() / "000001.reply.txt");
  EXPECT_TRUE(std::holds_alternative<NoReply>(queue.look({1}, 0, 0)));
}

}  // namespace
}  // namespace kernelsmith
