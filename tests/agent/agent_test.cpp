// Agents as proposers of a toy search: shell scripts in their sandbox.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>

#include <kernelsmith/agent/agent_proposer.hpp>
#include <kernelsmith/core/answer_of.hpp>

#include "temporary_folder.hpp"
#include "toy.hpp"

namespace kernelsmith {
namespace {

using namespace kernelsmith::testing;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Task toy_task() {
  Task task;
  task.name = "toy";
  task.backend = "command";
  task.seed = task.reference = number(0);
  return task;
}

PromptBuilder prompts() {
  PromptOptions options;
  options.set = "agent";
  return PromptBuilder::create(toy_task(), options).value();
}

AgentOptions scripted(const std::string& script) {
  AgentOptions options;
  options.command = {"sh", "-c", script, "agent"};
  options.time_s = 60;
  options.evaluations = 5;
  return options;
}

/// A run of one request, and what the journal has of it.
struct Sitting {
  Events events = no_events();
  Outcome outcome;

  explicit Sitting(const AgentOptions& agent, EngineOptions options = toy_options(1)) {
    options.error_limit = 1;
    auto proposer = make_agent_proposer(prompts(), toy_task(), agent).value();
    outcome = open_engine(options, events, blocking(score), proposer).run().value();
  }

  const Proposal& answer(TicketId ticket = {1}) const {
    for (const Event& event : *events)
      if (const auto* arrived = std::get_if<ProposalArrived>(&event); arrived && arrived->ticket == ticket)
        return arrived->proposal;
    throw std::runtime_error("the agent gave no answer");
  }
  const std::string& transcript(TicketId ticket = {1}) const { return answer(ticket).reply.value().text; }
};

/// Whether a process runs, anywhere, that was started with this argument.
bool runs(const std::string& argument) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::ostringstream line;
    line << file.rdbuf();  // an iterator would throw if the process ends here
    if (line.str().find(std::string(1, '\0') + argument + std::string(1, '\0')) != std::string::npos)
      return true;
  }
  return false;
}

constexpr const char* kClimb = R"(
for x in 10 13 30; do echo $x > try.txt; kernelsmith evaluate try.txt || true; done
kernelsmith report --usd 0.25 --input-tokens 1000 --output-tokens 100
cat TASK.md BUDGET.md programs/*/role.txt
)";

TEST(Agent, WhatItTriedAreProgramsAndTheBestIsItsAnswer) {
  const Sitting run(scripted(kClimb));
  EXPECT_EQ(number_in(run.outcome.best->program->source), 30);
  EXPECT_EQ(run.outcome.counts.evaluations, 4U);
  EXPECT_EQ(run.outcome.counts.rejected, 1U);
  EXPECT_EQ(run.outcome.counts.repeated, 1U);
  EXPECT_DOUBLE_EQ(run.answer().cost.usd, 0.25);
  EXPECT_EQ(run.answer().cost.input_tokens, 1000U);
  EXPECT_TRUE(run.answer().transcript);
  EXPECT_THAT(run.transcript(), HasSubstr("program 2: accepted, fitness 40"));
  EXPECT_THAT(run.transcript(), HasSubstr("rejected at compile: compile_failed\nit was told to fail"));
  EXPECT_THAT(run.transcript(), HasSubstr("# Task: toy"));
  EXPECT_THAT(run.transcript(), HasSubstr("evaluations left: 5 of 5"));
  EXPECT_THAT(run.transcript(), HasSubstr("the parent"));
}

TEST(Agent, IsRepeatedByteForByteWithoutBeingStarted) {
  auto options = toy_options(3);
  options.error_limit = 1;
  const Sitting run(scripted(kClimb), options);
  const auto own = no_events();
  auto again = open_engine(options, own);
  const auto followed = again.follow(MemoryJournal(run.events), RecordedEvaluations::kept).value();
  EXPECT_EQ(followed.end, Followed::End::whole);
  EXPECT_EQ(text_of(again), replayed(options, run.events));
}

TEST(Agent, IsKilledAtItsTimeWithEverythingThatItStarted) {
  const std::string mark = "98765.4321";
  auto agent = scripted(R"(date +%s.%N
trap '' TERM INT HUP
printf '{"tool": "evaluate", "files": {"x.txt": "20"}}' > asks/new; mv asks/new asks/1.json
(setsid nohup sleep )" + mark +
                        R"( > /dev/null 2>&1 &)
sleep )" + mark + "; sleep " +
                        mark);
  agent.time_s = 2;
  const Sitting run(agent);
  const double now_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_FALSE(runs(mark));
  const double took_s = now_s - std::stod(run.transcript());
  EXPECT_GT(took_s, 1);
  EXPECT_LT(took_s, agent.time_s + 1);
  EXPECT_EQ(number_in(run.outcome.best->program->source), 20);
}

TEST(Agent, WaitsWhileAsManyAreAtWorkAsMayBe) {
  const std::string mark = "98765.1234";
  const auto wait_for_one = [&] {
    while (!runs(mark)) std::this_thread::yield();
  };
  const auto proposer = make_agent_proposer(prompts(), toy_task(), scripted("sleep " + mark)).value();
  std::stop_source stops[3];
  const auto start = [&](std::size_t i) {
    return answer_of<Proposal>(
        [&](auto done) { proposer->start({}, stops[i].get_token(), std::move(done)); });
  };
  auto first = start(0);
  wait_for_one();
  auto second = start(1);
  stops[1].request_stop();
  EXPECT_EQ(second.get().error().code, ErrorCode::cancelled) << "it was not started";
  ProposalRequest request;
  std::stop_source ending;
  request.ending = ending.get_token();
  auto late = answer_of<Proposal>([&](auto done) { proposer->start(request, {}, std::move(done)); });
  ending.request_stop();
  EXPECT_EQ(late.get().error().code, ErrorCode::cancelled) << "the budget ended before its turn";
  auto third = start(2);
  EXPECT_EQ(first.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  stops[0].request_stop();
  const auto paid = first.get();
  ASSERT_TRUE(paid) << describe(paid.error());
  EXPECT_TRUE(paid->error()) << "it was paid for";
  wait_for_one();
  stops[2].request_stop();
  const auto last = third.get().value();
  EXPECT_TRUE(last.error());
}

TEST(Agent, HasABudgetOfEvaluationsAndOfMoney) {
  auto agent = scripted(R"(
for x in 1 2 4 5; do echo $x > try.txt; kernelsmith evaluate try.txt; done 2>&1
kernelsmith evaluate candidate; kernelsmith budget; kernelsmith submit 2
kernelsmith report --usd 1.5; sleep 1000)");
  agent.evaluations = 2;
  agent.usd = 1;
  const Sitting run(agent);
  EXPECT_EQ(run.outcome.counts.evaluations, 3U);
  EXPECT_THAT(run.transcript(), HasSubstr("2 evaluations are used up"));
  EXPECT_THAT(run.transcript(), HasSubstr("evaluations left: 0 of 2"));
  EXPECT_DOUBLE_EQ(run.answer().cost.usd, 1.5);
  EXPECT_EQ(number_in(run.answer().child()->source), 1);  // what it submitted, and not the best
}

TEST(Agent, ACarefulTrialIsMeasuredTwice) {
  const Sitting run(
      scripted("echo 20 > try.txt; kernelsmith evaluate try.txt --careful; kernelsmith confirm 2"));
  EXPECT_EQ(run.outcome.counts.remeasured, 2U);
  EXPECT_THAT(run.transcript(), HasSubstr("measured again with care, this time alone: accepted, fitness 50"));
}

TEST(Agent, GetsAnErrorForEachAskThatIsNone) {
  const Sitting run(scripted(R"(
ln -s /etc/passwd asks/1.json; mkfifo asks/2.json; mkdir asks/3.json; echo '{"tool": "' > asks/4.json
echo '{"tool": "evaluate", "files": {"../../x": "1"}}' > asks/5.json; echo '[]' > asks/6.json
echo '{"tool": "confirm", "program": 99}' > asks/7.json; head -c 6000000 /dev/zero > asks/8.json
ln -s /proc/1/mem asks/9.json; echo '{"tool": "report", "usd": -5}' > asks/10.json
echo '{"tool": "evaluate", "files": {}}' > asks/11.json; echo '{"tool": "reveal_seeds"}' > asks/12.json
echo '{"tool": "confirm", "program": 0.9}' > asks/13.json; echo '{"tool": "confirm", "program": -1}' > asks/14.json
echo '{"tool": "report", "usd": 1.7e308}' > asks/15.json
echo '{"tool": "report", "input_tokens": 18446744073709551615}' > asks/16.json
echo '{"tool": "evaluate", "files": {"x.txt": "1", "notes.md": "1"}}' > asks/17.json
for i in $(seq 20 400); do echo '{"tool": "budget"}' > asks/$i.json; done
(echo 1 > /answers/18.json && echo WROTE) 2>&1; (touch /usr/bin/x && echo WROTE) 2>&1; ls /root /home 2>&1 && echo SAW
python3 -c 'import socket; socket.create_connection(("127.0.0.1", 1))' 2>&1 | tail -n 1
kernelsmith evaluate candidate
for i in $(seq 17); do cat /answers/$i.json; echo; done)"));
  const std::string& text = run.transcript();
  EXPECT_THAT(text, Not(HasSubstr("WROTE")));
  EXPECT_THAT(text, Not(HasSubstr("SAW")));
  EXPECT_THAT(text, Not(HasSubstr("root:x")));
  EXPECT_THAT(text, HasSubstr("PermissionError"));
  EXPECT_THAT(text, HasSubstr("program 0 (known already, free)"));
  EXPECT_THAT(text, HasSubstr("program is a whole number from 0 to"));
  EXPECT_THAT(text, HasSubstr("keep other files outside candidate/"));
  EXPECT_THAT(text, Not(HasSubstr("kernelsmith-scratch")));
  EXPECT_EQ(run.outcome.counts.evaluations, 1U);
  std::size_t errors = 0;
  for (auto at = text.find("{\"error\":"); at != std::string::npos; at = text.find("{\"error\":", at + 1))
    ++errors;
  EXPECT_EQ(errors, 17U) << text;
}

TEST(Agent, WhatIsUnderWayWhenItEndsCounts) {
  const Sitting run(scripted(R"(echo '{"tool": "evaluate", "files": {"x.txt": "20"}}' > asks/1.json)"));
  EXPECT_EQ(number_in(run.answer().child()->source), 20);
}

TEST(Agent, ThatEndsWithNothingIsARefusalOrAnError) {
  const Sitting nothing(scripted("echo I am done"));
  EXPECT_EQ(nothing.outcome.refusals.at(RefusalCode::no_code), 1U);
  const Sitting broken(scripted("echo no key >&2; exit 3"));
  ASSERT_TRUE(broken.outcome.error);
  EXPECT_EQ(broken.outcome.error->code, ErrorCode::tool_failed);
  EXPECT_THAT(broken.outcome.error->message, HasSubstr("no key"));
}

TEST(Agent, NeedsACommandThatIsThere) {
  const auto made = [](std::vector<std::string> command) {
    AgentOptions options;
    options.command = std::move(command);
    return make_agent_proposer(PromptBuilder::create(toy_task()).value(), toy_task(), options);
  };
  EXPECT_EQ(made({}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(made({"no-such-agent"}).error().code, ErrorCode::not_found);
}

TEST(Agent, SaysWhatTheSandboxDoesNotShow) {
  const auto folder = TemporaryFolder();
  const auto command = folder.path() / "my-agent";
  std::ofstream(command) << "#!/no/such/shell\n";
  std::filesystem::permissions(command, std::filesystem::perms::owner_all);
  AgentOptions options;
  options.command = {command.string()};
  const auto made = make_agent_proposer(prompts(), toy_task(), options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::not_found);
  EXPECT_THAT(made.error().hint, HasSubstr("read_only"));
  options.read_only = {folder.path()};
  const Sitting shown(options);  // all but its interpreter
  ASSERT_TRUE(shown.outcome.error);
  EXPECT_THAT(shown.outcome.error->hint, HasSubstr("interpreter"));
}

TEST(Agent, GoesOnWithWhatAnEarlierOneHadTried) {
  auto options = toy_options(1);
  Sitting whole(scripted(
      "echo 20 > try.txt; kernelsmith evaluate try.txt; echo 40 > try.txt; kernelsmith evaluate try.txt"));
  // The engine was killed before the answer.
  const auto cut = std::ranges::find_if(*whole.events, [](const Event& event) {
    const auto* arrived = std::get_if<ProposalArrived>(&event);
    return arrived && arrived->ticket == TicketId{1};
  });
  const auto events = prefix(whole.events, static_cast<std::size_t>(cut - whole.events->begin()));
  auto agent = scripted("ls programs; cat BUDGET.md HISTORY.md; kernelsmith submit 3");
  auto proposer = make_agent_proposer(prompts(), toy_task(), agent).value();
  const auto outcome = open_engine(options, events, blocking(score), proposer).run().value();
  EXPECT_EQ(outcome.counts.evaluations, 3U);
  EXPECT_EQ(number_in(outcome.best->program->source), 40);
  const auto& answer = std::ranges::find_if(*events, [](const Event& event) {
    const auto* arrived = std::get_if<ProposalArrived>(&event);
    return arrived && arrived->ticket == TicketId{1};
  });
  EXPECT_THAT(std::get<ProposalArrived>(*answer).proposal.reply->text, HasSubstr("evaluations left: 3 of 5"));
  EXPECT_THAT(std::get<ProposalArrived>(*answer).proposal.reply->text,
              HasSubstr("first\n\n3: 70 (70 to 70)"));
}

TEST(Agent, SeesWhatAnEarlierOneOfTheRunHadTried) {
  auto options = toy_options(2);
  options.sampler = nullptr;  // its opening draws the seed for both
  options.history = 10;
  options.proposals_in_flight = 1;
  const Sitting run(scripted(R"(
cat candidate/x.txt; echo
if [ -d programs/2 ]; then cat HISTORY.md programs/2/x.txt programs/2/role.txt; kernelsmith submit 2; exit; fi
for x in 40 13; do echo $x > try.txt; kernelsmith evaluate try.txt; done)"),
                    options);
  const std::string& second = run.transcript({4});
  EXPECT_THAT(second, StartsWith("0\n"));
  EXPECT_THAT(second, HasSubstr("programs are ranked by the interval's low end"));
  EXPECT_THAT(second, HasSubstr("Programs so far: 3\n"));
  EXPECT_THAT(second, HasSubstr("first\n\n2: 70 (70 to 70), rewrite from 0\n0: 30 (30 to 30), seed\n"));
  EXPECT_THAT(second,
              HasSubstr("first\n\n3: rejected, compile/compile_failed, rewrite from 0: it was told to "
                        "fail\n2: 70"));
  EXPECT_THAT(second, HasSubstr("40\none of the run's best\n"));
  EXPECT_EQ(number_in(run.answer({4}).child()->source), 40);
  EXPECT_EQ(run.outcome.counts.evaluations, 3U);
}

TEST(Agent, IsNotDrownedInHistory) {
  ProposalRequest request;
  for (std::uint64_t id = 100; id > 0; --id) {
    std::string said = "note\nx.cpp:1: error: \x1b[31m";
    for (int i = 0; i < 100; ++i) said += "\xc3\xa4";
    request.selection.past.latest.push_back(std::make_shared<Individual>(
        Individual{std::make_shared<Program>(Program{{id}, number(long(id)), {}, Origin::rewrite}),
                   Rejection{Stage::compile, RejectionCode::compile_failed, said + "\nmore", {}}}));
  }
  request.selection.parent = request.selection.past.latest.back();
  auto proposer =
      make_agent_proposer(prompts(), toy_task(), scripted("wc -c < HISTORY.md; tail -n 1 HISTORY.md"))
          .value();
  auto answer = answer_of<Proposal>([&](auto done) { proposer->start(request, {}, std::move(done)); });
  const std::string text = answer.get().value().reply.value().text;
  EXPECT_GT(std::stoul(text), 11'000U) << text;
  EXPECT_LE(std::stoul(text), 12'000U) << text;
  EXPECT_THAT(text,
              HasSubstr(": rejected, compile/compile_failed, rewrite: x.cpp:1: error: \\x1b[31m\xc3\xa4"));
  EXPECT_THAT(text, EndsWith("\xc3\xa4\n"));
}

}  // namespace
}  // namespace kernelsmith
