// Workers that are forked from one process: they are as if started, and end as processes do.
#include "warm_program.hpp"

#include <csignal>
#include <thread>

#include "fake_python.hpp"
#include "reference_process.hpp"
#include "temporary_folder.hpp"

namespace kernelsmith::torch {
namespace {

constexpr double kWarmPatienceS = 60;
constexpr double kWarmSoonS = 0.2;

SandboxSpec judge_program() { return trusted_program(fake_python(), "worker", {"judge", "--device", "3"}); }

Answer ask(PythonProcess& process, const Json& request, double timeout_s = kWarmPatienceS) {
  return process.ask({request.dump(), {}}, timeout_s, {});
}

/// What the fake judge reports of its process.
Json process_of(PythonProcess& process) {
  const auto reply = read_reply(ask(process, {{"do", "hello"}}).message);
  return reply ? member(reply->json, "process") : Json();
}

/// Prepares the fake judge, which then ends a request to release by `how`.
void prepare(PythonProcess& process, const std::string& how) {
  const TemporaryFolder folder;
  const auto script = folder / "reference.py";
  std::ofstream(script) << R"({"on": {"release": ")" << how << R"("}})";
  const Answer answer =
      ask(process, {{"do", "prepare"}, {"reference", script.string()}, {"kernels", own_kernels()}});
  EXPECT_EQ(answer.kind, Answer::Kind::reply) << answer.words;
}

struct Warmed {
  PythonProcess judge() { return warm.start(judge_program(), {}).value(); }
  WarmProgram warm{kWarmPatienceS};
};

TEST(WarmProgram, ForksWorkersThatAreAsIfStarted) {
  Warmed forked;
  PythonProcess one = forked.judge(), two = forked.judge();
  PythonProcess started = PythonProcess::start(judge_program()).value();
  const Json first = process_of(one), second = process_of(two), usual = process_of(started);
  EXPECT_EQ(first["given"].dump(2), usual["given"].dump(2));
  EXPECT_EQ(second["given"].dump(2), usual["given"].dump(2));
  EXPECT_TRUE(first["leads"] == true) << "or its own children would outlive it";
  const std::string ours = file_bytes("/proc/self/cgroup");
  EXPECT_EQ(first["group"] == ours, usual["group"] == ours) << "if this machine has control groups";
  EXPECT_EQ(first["group"] == second["group"], usual["group"] == ours);
  EXPECT_EQ(first["parent"], second["parent"]);
  EXPECT_NE(first["parent"], usual["parent"]);
  EXPECT_NE(first["pid"], second["pid"]);
}

TEST(WarmProgram, AWorkersEndIsToldWithItsLastWords) {
  Warmed forked;
  PythonProcess dying = forked.judge(), other = forked.judge();
  prepare(dying, "die");
  const Answer answer = ask(dying, {{"do", "release"}});
  EXPECT_EQ(answer.kind, Answer::Kind::ended);
  EXPECT_THAT(answer.words, AllOf(HasSubstr("exit status 3"), HasSubstr("a last word")));
  ::kill(process_of(other)["pid"].get<pid_t>(), SIGSEGV);
  EXPECT_THAT(ask(other, {{"do", "hello"}}).words, HasSubstr("signal 11"));
  PythonProcess next = forked.judge();
  EXPECT_TRUE(process_of(next).is_object());
}

TEST(WarmProgram, AWorkerThatIsLateOrNoLongerWantedIsGone) {
  Warmed forked;
  PythonProcess late = forked.judge();
  const auto late_pid = process_of(late)["pid"].get<pid_t>();
  prepare(late, "hang");
  EXPECT_EQ(ask(late, {{"do", "release"}}, kWarmSoonS).kind, Answer::Kind::late);
  EXPECT_EQ(::kill(late_pid, 0), -1);
  pid_t unwanted_pid = 0;
  {
    PythonProcess unwanted = forked.judge();
    unwanted_pid = process_of(unwanted)["pid"].get<pid_t>();
    EXPECT_EQ(::kill(unwanted_pid, 0), 0);
  }
  EXPECT_EQ(::kill(unwanted_pid, 0), -1);
}

TEST(WarmProgram, WorkersEndWithTheirParentWhichIsReplaced) {
  Warmed forked;
  PythonProcess worker = forked.judge();
  const auto parent = process_of(worker)["parent"].get<pid_t>();
  prepare(worker, "hang");
  ::kill(parent, SIGKILL);
  PythonProcess next = forked.judge();
  EXPECT_EQ(ask(worker, {{"do", "release"}}).kind, Answer::Kind::ended) << "late, if it had not been killed";
  EXPECT_NE(process_of(next)["parent"], parent);
}

TEST(WarmProgram, AWorkerOutlivesTheObject) {
  std::optional<Warmed> forked(std::in_place);
  PythonProcess worker = forked->judge();
  forked.reset();
  EXPECT_TRUE(process_of(worker).is_object());
}

TEST(WarmProgram, AnotherEnvironmentGetsAnotherProcess) {
  Warmed forked;
  PythonProcess one = forked.judge();
  const Variable other("FAKE_ANYTHING", "other");
  PythonProcess two = forked.judge();
  const Json told = process_of(two);
  EXPECT_NE(process_of(one)["parent"], told["parent"]);
  EXPECT_EQ(told["given"]["environment"]["FAKE_ANYTHING"], "other");
}

TEST(WarmProgram, AProgramThatLeavesThreadsIsStartedAsUsual) {
  const Variable thread("FAKE_THREAD", "1");
  Warmed usual;
  PythonProcess one = usual.judge(), two = usual.judge();
  EXPECT_EQ(process_of(one)["parent"], ::getpid());
  EXPECT_EQ(process_of(two)["parent"], ::getpid());
}

TEST(WarmProgram, AFailedImportIsTold) {
  const Variable dies("FAKE_WARM", "die");
  WarmProgram warm(kWarmPatienceS);
  const Error error = warm.start(judge_program(), {}).error();
  EXPECT_EQ(error.code, ErrorCode::tool_missing);
  EXPECT_THAT(error.message, AllOf(HasSubstr("exit status 3"), HasSubstr("a last word")));
  EXPECT_EQ(error.hint, kNeedsTorch);
}

TEST(WarmProgram, AStopRequestEndsTheImport) {
  const TemporaryFolder folder;
  const auto mark = folder / "hangs";
  const Variable hangs("FAKE_WARM", "hang"), marks("FAKE_HANGS", mark.string());
  WarmProgram warm(kWarmPatienceS);
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (!std::filesystem::exists(mark)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop.request_stop();
  });
  const std::jthread other(
      [&] { EXPECT_EQ(warm.start(judge_program(), stop.get_token()).error().code, ErrorCode::cancelled); });
  EXPECT_EQ(warm.start(judge_program(), stop.get_token()).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace kernelsmith::torch
