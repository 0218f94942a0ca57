// The turns of a recorded trajectory. Cold start and reinforcement learning give the same bytes:
// python/tests/test_conversation.py.
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/prompts/turn.hpp>

#include "stts_script.hpp"
#include "stts_trajectory.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Script;

nlohmann::json recorded() {
  const auto folder = std::filesystem::path(__FILE__).parent_path().parent_path() / "conversation";
  return nlohmann::json::parse(std::ifstream(folder / "trajectory.json"));
}

/// Gives the recorded evaluations in their order.
class RecordedEvaluator final : public Evaluator {
 public:
  explicit RecordedEvaluator(nlohmann::json turns) : turns_(std::move(turns)) {}

  void start(EvaluationJob, std::stop_token, Sink<Evaluation> done) override {
    done(from_json<Evaluation>(turns_.at(next_++).at("evaluation").dump()));
  }

 private:
  const nlohmann::json turns_;
  std::size_t next_ = 0;
};

TEST(SttsConversation, HasTheTurnsThatTrainingHas) {
  const nlohmann::json all = recorded();
  std::deque<std::string> replies;
  for (const auto& turn : all.at("turns")) replies.push_back(turn.at("reply"));
  const std::size_t count = replies.size();
  replies.emplace_back("one more, before which all are shown");
  const Script script(std::move(replies));
  suite::SttsTools tools = script.tools();
  tools.evaluator = std::make_shared<RecordedEvaluator>(all.at("turns"));
  const TemporaryFolder folder;
  auto journal = suite::SttsJournal::open(folder.path() / "1.jsonl", {"numbers", 1, "00"});
  ASSERT_TRUE(journal) << describe(journal.error());
  const SttsPlan plan{.turns = count + 1, .first = count + 1, .keep = 1};
  const Status made = suite::complete(*journal, plan, tools, [](std::size_t, const SttsTurn&) {}, {});
  ASSERT_TRUE(made) << describe(made.error());

  nlohmann::json shown = nlohmann::json::array();
  const auto& asked = script.model->asked.back();
  for (std::size_t at = 2; at < asked.size(); ++at)
    shown.push_back(
        {{"role", asked[at].role == Role::user ? "user" : "assistant"}, {"content", asked[at].text}});
  EXPECT_EQ(shown, all.at("messages")) << shown.dump(1);
}

TEST(Turn, TellsARefusalAndAsksForTheFormOfThePrompt) {
  const TurnVerdict none = turn_verdict(Refusal{RefusalCode::no_code, "no fence"});
  const std::string text = turn_message(none, TurnForm::program);
  EXPECT_THAT(text, HasSubstr("\"error_code\": \"no_code\",\n  \"error_message\": \"no fence\"\n}"));
  EXPECT_THAT(text, Not(HasSubstr("speedup")));
  EXPECT_THAT(turn_message(none, TurnForm::edits), HasSubstr("<<<<<<< SEARCH"));
  EXPECT_THAT(turn_message(none, TurnForm::files), HasSubstr("every file that you change"));
  EXPECT_TRUE(turn_message(none, TurnForm::edits, "Write CUDA.").ends_with("}\n\nWrite CUDA."));
}

}  // namespace
}  // namespace kernelsmith
