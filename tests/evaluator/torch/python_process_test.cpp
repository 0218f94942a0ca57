// A Python program as a child process: requests, replies, time limits, and how it ends.
#include <chrono>

#include "fake_python.hpp"

namespace kernelsmith::torch {
namespace {

constexpr double kProcessPatienceS = 60;
constexpr double kSoonS = 0.2;

/// Python code that has `read(n)` and `write(bytes)` for the channel, and `send(json, blob)`.
PythonProcess program(const std::string& code) {
  const std::string begin = R"(
import os, struct, sys, time
def read(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more: sys.exit(0)
        data += more
    return data
def write(data):
    while data: data = data[os.write(1, data):]
def send(text, blob=b""): write(struct.pack("<IQ", len(text), len(blob)) + text + blob)
def receive():
    sizes = struct.unpack("<IQ", read(12))
    return read(sizes[0]), read(sizes[1])
)";
  SandboxSpec spec = fake_planner();
  spec.argv = {spec.argv.front(), "-c", begin + code};
  return PythonProcess::start(std::move(spec)).value();
}

TEST(PythonProcess, AnswersOneRequestAfterAnother) {
  PythonProcess echo = program("while True: send(*receive())");
  for (const std::string word : {"one", "two"}) {
    const Answer answer = echo.ask({"{\"a\":\"" + word + "\"}", word + "\0blob"}, kProcessPatienceS, {});
    ASSERT_EQ(answer.kind, Answer::Kind::reply) << answer.words;
    EXPECT_EQ(answer.message.json, "{\"a\":\"" + word + "\"}");
    EXPECT_EQ(answer.message.blob, word + "\0blob");
  }
  EXPECT_TRUE(echo.alive());
}

TEST(PythonProcess, TakesBlobsThatFillTheChannelManyTimes) {
  PythonProcess echo = program("send(*receive())\nreceive()");
  const std::string blob(5 << 20, 'b');
  const Answer answer = echo.ask({"{}", blob}, kProcessPatienceS, {});
  ASSERT_EQ(answer.kind, Answer::Kind::reply) << answer.words;
  EXPECT_EQ(answer.message.blob, blob);
}

TEST(PythonProcess, ItsEndIsToldWithItsLastWords) {
  PythonProcess dying = program("receive()\nprint('out of luck', file=sys.stderr)\nos._exit(3)");
  const Answer answer = dying.ask({"{}", ""}, kProcessPatienceS, {});
  EXPECT_EQ(answer.kind, Answer::Kind::ended);
  EXPECT_THAT(answer.words, AllOf(HasSubstr("exit status 3"), HasSubstr("out of luck")));
  EXPECT_FALSE(dying.alive());
  EXPECT_EQ(dying.ask({"{}", ""}, kProcessPatienceS, {}).kind, Answer::Kind::ended);
}

TEST(PythonProcess, EndsInTheMiddleOfAReply) {
  PythonProcess dying = program("receive()\nwrite(struct.pack('<IQ', 100, 0) + b'{')\nos._exit(0)");
  EXPECT_EQ(dying.ask({"{}", ""}, kProcessPatienceS, {}).kind, Answer::Kind::ended);
}

TEST(PythonProcess, WhoIsLateIsKilled) {
  PythonProcess late = program("receive()\ntime.sleep(60)");
  EXPECT_EQ(late.ask({"{}", ""}, kSoonS, {}).kind, Answer::Kind::late);
  EXPECT_FALSE(late.alive());
}

TEST(PythonProcess, WhoDoesNotReadIsLate) {
  PythonProcess deaf = program("time.sleep(60)");
  EXPECT_EQ(deaf.ask({"{}", std::string(8 << 20, 'b')}, kSoonS, {}).kind, Answer::Kind::late);
}

TEST(PythonProcess, ALyingLengthIsGarbage) {
  PythonProcess lying = program("receive()\nwrite(b'\\xff' * 12)\ntime.sleep(60)");
  const Answer answer = lying.ask({"{}", ""}, kProcessPatienceS, {});
  EXPECT_EQ(answer.kind, Answer::Kind::garbage);
  EXPECT_THAT(answer.words, HasSubstr("4294967295"));
}

TEST(PythonProcess, WhatNobodyAskedForIsNoReply) {
  PythonProcess eager = program("receive()\nwrite(2 * (struct.pack('<IQ', 2, 0) + b'{}'))\ntime.sleep(60)");
  const Answer answer = eager.ask({"{}", ""}, kProcessPatienceS, {});
  EXPECT_EQ(answer.kind, Answer::Kind::garbage);
  EXPECT_EQ(answer.words, "more than one reply");
  EXPECT_FALSE(eager.alive());
}

TEST(PythonProcess, AStopRequestKillsIt) {
  PythonProcess busy = program("receive()\ntime.sleep(60)");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(busy.ask({"{}", ""}, kProcessPatienceS, stop.get_token()).kind, Answer::Kind::stopped);
  EXPECT_FALSE(busy.alive());
}

TEST(PythonProgram, APythonThatIsNotThereIsNamed) {
  const auto found = find_python("/no/such/python");
  EXPECT_EQ(found.error().code, ErrorCode::tool_missing);
  EXPECT_EQ(found.error().where, "/no/such/python");
  EXPECT_THAT(found.error().hint, HasSubstr("KERNELSMITH_TORCH_PYTHON"));
}

TEST(PythonProgram, APackageThatIsNotThereIsNamed) {
  const Variable package("KERNELSMITH_TORCH_PYTHON_DIR", "/no/such/folder");
  const auto found = find_python({});
  EXPECT_EQ(found.error().where, "/no/such/folder");
}

TEST(PythonProgram, TheSourceTreeHasThePackage) {
  const auto found = find_python({}).value();
  EXPECT_TRUE(std::filesystem::exists(found.package / "kernelsmith_torch"));
}

}  // namespace
}  // namespace kernelsmith::torch
