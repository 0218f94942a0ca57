// Programs that hang, fork, fill memory, print without end or end their process: one clear result each, in a
// sandbox and without one, and nothing left behind.
#include <sys/resource.h>

#include "evaluating.hpp"
#include "hostile_programs.hpp"

namespace kernelsmith {
namespace {

std::string settings(bool sandbox, const std::string& timeout_s) {
  return std::string("memory_mb: 256\nsandbox: ") + (sandbox ? "true" : "false") +
         "\ntimeout_s: " + timeout_s + "\n";
}

class PythonLimits : public testing::TestWithParam<bool> {
 protected:
  std::string mark_ = "71" + std::to_string(::getpid());  // seconds of a sleep(1) that no other process has
  Evaluating hurried_{kRunsIt, settings(GetParam(), "0.5")};
  Evaluating patient_{kRunsIt, settings(GetParam(), "60")};
};

TEST_P(PythonLimits, EveryEndIsOneClearResultAndLeavesNothing) {
  ASSERT_TRUE(hurried_.run("return 1").accepted());
  ASSERT_TRUE(patient_.run("return 1").accepted());
  const auto warm = descendants();
  for (const HostileProgram& one : hostile_programs()) {
    const Evaluation evaluation = (one.hangs ? hurried_ : patient_).run(one.body);
    EXPECT_EQ(evaluation.report().tier, GetParam() ? "unverified" : "unsandboxed");
    EXPECT_EQ(evaluation.accepted(), one.code.empty()) << one.name;
    if (const Rejection* const rejection = evaluation.rejection()) {
      EXPECT_TRUE(one.code.contains(rejection->code))
          << one.name << ": " << name_of(rejection->code) << ": " << rejection->diagnostics;
    }
    EXPECT_EQ(descendants(), warm) << one.name;
  }
  EXPECT_TRUE(patient_.run("return 1").accepted());
  EXPECT_EQ(descendants(), warm);
}

TEST_P(PythonLimits, AnEndlessPrintKeepsItsTail) {
  const Evaluation evaluation =
      patient_.run("for i in range(1 << 17): print('line', i)\nraise ValueError('then this')");
  EXPECT_THAT(rejection_of(evaluation).diagnostics, HasSubstr("ValueError: then this"));
  const std::string out = artifact(evaluation, "python.out");
  EXPECT_LT(out.size(), (std::size_t{1} << 20) + 100);
  EXPECT_TRUE(out.ends_with("line " + std::to_string((1 << 17) - 1) + "\n"));
  EXPECT_THAT(out, HasSubstr("bytes before these are left out"));
}

TEST_P(PythonLimits, DaemonsOfDaemonsEndWithTheEvaluation) {
  const std::string daemon =
      "import os, subprocess, time\n"
      "if os.fork() == 0:\n"
      "    os.setsid()\n"
      "    if os.fork() == 0: os.execvp('sleep', ['sleep', '" +
      mark_ +
      "'])\n"
      "    os._exit(0)\n"
      "os.wait()\n"
      "subprocess.Popen(['sleep', '" +
      mark_ + "'], start_new_session=True)\n";
  ASSERT_TRUE(patient_.run("return 1").accepted());
  EXPECT_TRUE(patient_.run(daemon + "return 1").accepted());
  EXPECT_EQ(marked_processes(mark_), 0);
  EXPECT_EQ(hurried_.run(daemon + "time.sleep(1000)").rejection()->code, RejectionCode::timed_out);
  EXPECT_EQ(marked_processes(mark_), 0);
}

TEST_P(PythonLimits, AStopRequestEndsEverything) {
  std::stop_source stop;
  const auto warm_up = patient_.run("return 1");
  auto answer = patient_.start("def run():\n    import subprocess, time\n    subprocess.Popen(['sleep', '" +
                                   mark_ + "'], start_new_session=True)\n    time.sleep(1000)\n",
                               stop.get_token());
  while (marked_processes(mark_) == 0) ::usleep(1000);
  stop.request_stop();
  EXPECT_EQ(answer.get().error().code, ErrorCode::cancelled);
  EXPECT_EQ(marked_processes(mark_), 0);
}

TEST_P(PythonLimits, AProgramThatEndsTheWorkerIsToBlameAndTheNextIsNot) {
  EXPECT_EQ(
      rejection_of(patient_.run("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nreturn 1")).code,
      RejectionCode::crashed);
  EXPECT_TRUE(patient_.run("return 1").accepted());
}

TEST_P(PythonLimits, ForgedMessagesAreNotUnderstood) {
  const Evaluation evaluation = patient_.run(
      "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'\\xff' * 64)\n    except OSError: "
      "pass\nreturn 1");
  EXPECT_EQ(rejection_of(evaluation).code, RejectionCode::protocol_forged);
}

TEST_P(PythonLimits, NoProgramSeesWhatAnotherLeft) {
  const char* const leave = "import tempfile\nopen(tempfile.gettempdir() + '/left', 'w')\nreturn 1";
  const char* const look = "import os, tempfile\nreturn os.path.exists(tempfile.gettempdir() + '/left') + 0";
  EXPECT_TRUE(patient_.run(leave).accepted());
  EXPECT_EQ(patient_.run(look).metrics()->fitness().median, 0);
  if (!GetParam()) return;
  EXPECT_TRUE(patient_.run("for f in ('/tmp/left', '/dev/shm/left'): open(f, 'w')\nreturn 1").accepted());
  EXPECT_EQ(patient_.run("import os\nreturn len(os.listdir('/dev/shm')) + os.path.exists('/tmp/left')")
                .metrics()
                ->fitness()
                .median,
            0);
}

TEST_P(PythonLimits, WhatAProgramDoesToItsWorkerHarmsNoOther) {
  const std::string deep =
      "import os, tempfile\nos.chdir(tempfile.gettempdir())\n"
      "for _ in range(3000): os.mkdir('d'); os.chdir('d')\nreturn 1";
  const std::string limits =
      "import os, resource\ntry: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (8, 8))\n"
      "except OSError: pass\nreturn 1";
  const std::string closed =
      "import os\nos.makedirs('/tmp/of_a_test/b')\nopen('/tmp/of_a_test/b/c', "
      "'w')\nos.chmod('/tmp/of_a_test', 0)\nreturn 1";
  std::vector<std::string> all = {
      deep, limits,
      "import os\nos.nice(5)\nup = os.getppid()\n"
      "os.setpriority(os.PRIO_PROCESS, up, min(19, os.getpriority(os.PRIO_PROCESS, up) + 5))\nreturn 1"};
  if (GetParam()) {
    all.push_back(closed);
    for (const std::string folder : {"/tmp", "/dev/shm"})
      all.push_back("import os\nos.chmod('" + folder + "', 0)\nreturn 1");
  }
  for (const std::string& body : all) {
    EXPECT_TRUE(patient_.run(body).accepted()) << body;
    const Evaluation next = patient_.run(
        "import os, resource\nopen('own', 'w') if os.access('.', os.W_OK) else None\n"
        "return os.getpriority(os.PRIO_PROCESS, 0) + 100 * (resource.getrlimit(resource.RLIMIT_NOFILE)[0] == "
        "8) + "
        "1000 * os.path.exists('/tmp/of_a_test')");
    ASSERT_TRUE(next.accepted()) << body << next.rejection()->diagnostics;
    EXPECT_EQ(next.metrics()->fitness().median, ::getpriority(PRIO_PROCESS, 0)) << body;
  }
}

TEST_P(PythonLimits, AForgedAnswerIsTheProgramsFault) {
  const auto forged = [](const std::string& json) {
    return "import os, struct\ntext = " + json +
           "\nmessage = struct.pack('<IQ', len(text), 0) + text\nfor fd in range(3, 64):\n"
           "    try: os.write(fd, message)\n    except OSError: pass\nimport time\ntime.sleep(1000)";
  };
  for (const std::string json :
       {R"(b'{"end": "returned", "numbers": [], "artifacts": [["a", -5]]}')",
        R"(b'{"end": "returned", "numbers": [], "artifacts": [["a", 1e999]]}')",
        R"(b'{"end": "passed", "stage": 2, "numbers": [], "artifacts": []}')",
        R"(b'{"end": "passed", "stage": 1e999, "numbers": [], "artifacts": []}')", R"(b'[]')"}) {
    EXPECT_EQ(rejection_of(patient_.run(forged(json))).code, RejectionCode::protocol_forged) << json;
  }
  EXPECT_EQ(rejection_of(patient_.run(forged(R"(b'{"end": "raised", "words": "\\ud800"}')"))).code,
            RejectionCode::raised);
}

TEST_P(PythonLimits, ProcessesThatEndedDoNotCount) {
  EXPECT_TRUE(
      patient_
          .run("import os, time\nfor _ in range(150):\n    if os.fork() == 0:\n"
               "        os.fork()\n        os._exit(0)\n    os.wait()\n    time.sleep(0.003)\nreturn 1")
          .accepted());
}

INSTANTIATE_TEST_SUITE_P(Sandboxed, PythonLimits, testing::Values(true));
INSTANTIATE_TEST_SUITE_P(Unsandboxed, PythonLimits, testing::Values(false));

TEST(PythonEvaluator, WhatTheEvaluatorWroteWhenItWasImportedStays) {
  const Evaluating evaluating(
      "import tempfile\nkept = tempfile.NamedTemporaryFile('w+')\nkept.write('data')\nkept.flush()\n"
      "def evaluate(path):\n    exec(open(path).read())\n    return len(open(kept.name).read())\n");
  EXPECT_EQ(evaluating.evaluate("pass").metrics()->fitness().median, 4);
  EXPECT_EQ(evaluating.evaluate("open(kept.name, 'a').write('more')").metrics()->fitness().median, 8);
  EXPECT_EQ(evaluating.evaluate("pass").metrics()->fitness().median, 4) << "it was imported anew";
}

TEST(PythonEvaluator, ItsEndLeavesNothing) {
  const auto before = descendants();
  {
    const Evaluating evaluating(kRunsIt);
    ASSERT_TRUE(evaluating.run("return 1").accepted());
    EXPECT_NE(descendants(), before);
  }
  EXPECT_EQ(descendants(), before);
}

TEST(PythonEvaluator, EvaluationsRunBesideEachOther) {
  // Each waits for the other to have come, in a folder that both see.
  TemporaryFolder shared;
  const Evaluating evaluating(kRunsIt, "timeout_s: 60\nsandbox: false\n", at_a_time(2));
  const auto meet = [&](const std::string& own, const std::string& other) {
    return "def run():\n    import os, time\n    folder = '" + shared.path().string() +
           "/'\n    open(folder + '" + own + "', 'w')\n    while not os.path.exists(folder + '" + other +
           "'): time.sleep(0.001)\n    return 1\n";
  };
  auto one = evaluating.start(meet("a", "b"));
  auto two = evaluating.start(meet("b", "a"));
  EXPECT_TRUE(one.get().value().accepted());
  EXPECT_TRUE(two.get().value().accepted());
}

TEST(PythonEvaluator, TheSandboxHidesWhatTheEvaluatorDoesNotNeed) {
  ::setenv("KERNELSMITH_TEST_SECRET", "secret", 1);
  const Evaluating evaluating(kRunsIt);
  const Evaluation hidden = evaluating.run(
      "import os, socket\n"
      "try: socket.create_connection(('127.0.0.1', 9), 1); net = 1\n"
      "except OSError: net = 0\n"
      "return net + ('KERNELSMITH_TEST_SECRET' in os.environ) + os.path.exists('/etc/passwd')");
  ASSERT_TRUE(hidden.accepted()) << hidden.rejection()->diagnostics;
  EXPECT_EQ(hidden.metrics()->fitness().median, 0);
  const Evaluation written = evaluating.run("open('written', 'w')");
  EXPECT_EQ(written.rejection()->code, RejectionCode::raised);
  ::unsetenv("KERNELSMITH_TEST_SECRET");
}

}  // namespace
}  // namespace kernelsmith
