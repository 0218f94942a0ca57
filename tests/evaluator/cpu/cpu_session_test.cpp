// Sessions and the host: what a batch's outputs are compared with, what a kernel pretends to have done, and
// what is left of it.
#include <cstring>
#include <thread>

#include "cpu_host.hpp"
#include "workshop.hpp"

namespace kernelsmith::cpu {
namespace {

using ::testing::Key;

constexpr std::size_t kElements = 8;

Bytes bytes_of(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// All elements of x are `value`; y must be twice that, to the bit.
InputSet set_of(float value) {
  InputSet set;
  set.inputs = {bytes_of(std::vector<float>(kElements, value)), {}};
  set.outputs.resize(2);
  set.outputs[1].dtype = Dtype::f32;
  set.outputs[1].exact = true;
  set.outputs[1].values = bytes_of(std::vector<float>(kElements, 2 * value));
  return set;
}

class CpuSessionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    workshop = std::make_unique<Workshop>(task_of(kTwice));
    host = CpuHost::create(workshop->task, workshop->settings, *workshop->build(twice(kRight)),
                           [](const Source& source) {
                             return workshop->compiler->build({source, "roofline kernel"});
                           })
               .value();
  }
  static void TearDownTestSuite() {
    host.reset();
    workshop.reset();
  }

  static std::unique_ptr<KernelSession> open(const std::string& body, std::size_t place = 0,
                                             const std::stop_token& stop = {}) {
    return value_of(host->open(workshop->build(twice(body)), Trust::candidate, place, stop));
  }
  Batch batch() const { return {0, {&one_, &two_}, 10}; }

  /// Expects one that is rejected while it is called.
  void expect_rejection(const std::string& body, RejectionCode code) {
    const Rejection rejection = rejection_of(open(body)->run(batch()));
    EXPECT_EQ(name_of(rejection.code), name_of(code)) << rejection.diagnostics;
  }

  static inline std::unique_ptr<Workshop> workshop;
  static inline std::shared_ptr<CpuHost> host;
  const InputSet one_ = set_of(1), two_ = set_of(2);
};

TEST_F(CpuSessionTest, RunsAndComparesEveryCall) {
  const auto session = open(kRight);
  const double time = value_of(session->run(batch()));
  EXPECT_GT(time, 0);
  const Findings findings = session->compare();
  EXPECT_FALSE(findings.wrong);
}

TEST_F(CpuSessionTest, TellsTheFirstWrongOutputAndItsWorstValue) {
  const auto session = open(kRight + "if (x[0] == 2) y[5] = 7;");
  ASSERT_TRUE(session->run(batch()));
  const Findings findings = session->compare();
  ASSERT_TRUE(findings.wrong);
  EXPECT_EQ(findings.wrong->call, 1U);
  EXPECT_EQ(findings.wrong->tensor, 1U);
  EXPECT_FALSE(findings.wrong->beside);
  EXPECT_EQ(findings.wrong->result.fault, Fault::wrong);
  EXPECT_EQ(findings.wrong->result.worst_at, 5U);
  EXPECT_EQ(findings.wrong->actual, 7);
}

TEST_F(CpuSessionTest, OutputsArePoisonedBeforeEveryBatch) {
  const auto session = open("static int calls; if (calls++ < 2) {" + kRight + "}");
  ASSERT_TRUE(session->run(batch()));
  EXPECT_FALSE(session->compare().wrong);
  ASSERT_TRUE(session->run(batch()));
  const Findings findings = session->compare();
  ASSERT_TRUE(findings.wrong);
  EXPECT_EQ(findings.wrong->result.fault, Fault::not_written);
  EXPECT_EQ(findings.wrong->result.faults.not_written.count, kElements);
}

TEST_F(CpuSessionTest, MemoryBesideAnOutputIsWatched) {
  for (const char* const write : {"y[-1] = 1;", "y[n] = 1;"}) {
    // Eight floats are less than a multiple of the alignment, so there is room on both sides.
    const auto session = open(kRight + write);
    ASSERT_TRUE(session->run(batch())) << write;
    const Findings findings = session->compare();
    ASSERT_TRUE(findings.wrong) << write;
    EXPECT_TRUE(findings.wrong->beside) << write;
  }
}

TEST_F(CpuSessionTest, TellsWhatAKernelDidThatItMustNot) {
  expect_rejection("const_cast<float*>(x)[0] = 1;" + kRight, RejectionCode::input_modified);
  expect_rejection("y[16] = 1;" + kRight, RejectionCode::crashed);
  expect_rejection("std::abort();", RejectionCode::crashed);
  expect_rejection("std::exit(0);", RejectionCode::exited);
}

TEST_F(CpuSessionTest, ACallHasTheBatchsTimeLimit) {
  const auto session = open("while (true) asm volatile(\"\");");
  Batch short_one = batch();
  short_one.timeout_s = 0.05;
  const Rejection rejection = rejection_of(session->run(short_one));
  EXPECT_EQ(rejection.code, RejectionCode::timed_out);
  EXPECT_THAT(rejection.diagnostics, HasSubstr("0.05 s"));
}

TEST_F(CpuSessionTest, AStopRequestEndsACall) {
  std::stop_source stop;
  const auto session = open("while (true) asm volatile(\"\");", 0, stop.get_token());
  const std::jthread stopper([&stop] { stop.request_stop(); });
  Batch endless = batch();
  endless.timeout_s = 60;
  EXPECT_EQ(error_of(session->run(endless)).code, ErrorCode::cancelled);
}

TEST_F(CpuSessionTest, TheDigestOfOutputsTellsThemApart) {
  const auto session = open(kRight);
  ASSERT_TRUE(session->run({0, {&one_, &two_}, 10}));
  const Digest first = session->outputs();
  ASSERT_TRUE(session->run({0, {&one_, &two_}, 10}));
  EXPECT_EQ(session->outputs(), first);
  ASSERT_TRUE(session->run({0, {&two_, &one_}, 10}));
  EXPECT_NE(session->outputs(), first);
}

TEST_F(CpuSessionTest, TellsWhereItsTimeWent) {
  const auto session = open(kRight);
  ASSERT_TRUE(session->run(batch()));
  static_cast<void>(session->compare());
  std::map<std::string, double> spent_ms = {{"load", 1}};
  session->take_costs(spent_ms);
  EXPECT_THAT(spent_ms, UnorderedElementsAre(Key("load"), Key("lay out"), Key("calls"), Key("stop and go"),
                                             Key("compare")));
  EXPECT_GT(spent_ms["load"], 1);
}

TEST_F(CpuSessionTest, AThirdPlaceCanBeOpenBesideTwo) {
  std::vector<std::unique_ptr<KernelSession>> sessions;
  for (const std::size_t place : {0U, 1U, 2U}) sessions.push_back(open(kRight, place));
  for (const auto& session : sessions) {
    ASSERT_TRUE(session->run(batch()));
    EXPECT_FALSE(session->compare().wrong);
  }
}

TEST_F(CpuSessionTest, MemoryIsWipedForACandidate) {
  // Far behind its own call's output lies that of the last slot.
  const std::string far = "y[(" + std::to_string(host->capacity(0)) + " - 1) * 2048]";
  { ASSERT_TRUE(open(far + " = 3;" + kRight)->run({0, {&one_}, 10})); }
  const auto next = open("for (std::int64_t i = 0; i < n; ++i) y[i] = " + far + ";");
  ASSERT_TRUE(next->run({0, {&one_}, 10}));
  const Findings findings = next->compare();
  ASSERT_TRUE(findings.wrong);
  EXPECT_EQ(findings.wrong->actual, 0);
}

TEST_F(CpuSessionTest, TheHostTellsWhatItIs) {
  const HostTraits traits = host->traits();
  EXPECT_TRUE(traits.tier == "full" || traits.tier == "weak") << traits.tier;
  EXPECT_FALSE(traits.hardware.empty());
  EXPECT_EQ(traits.places, 3U);
  EXPECT_GT(host->capacity(0), 1U);
}

TEST(CpuHost, BoundsOnlyCallsThatCameNearTheBound) {
  std::string yaml = kTwice;
  yaml.replace(yaml.find("n: 8"), 4, "n: 1048576");
  Workshop workshop(task_of(yaml));
  const auto host = CpuHost::create(workshop.task, workshop.settings, *workshop.build(twice(kRight)),
                                    [&](const Source& source) {
                                      return workshop.compiler->build({source, "roofline kernel"});
                                    });
  ASSERT_TRUE(host) << describe(host.error());
  EXPECT_EQ((*host)->capacity(0), 1U);
  InputSet set;
  set.inputs = {Bytes(4 << 20), {}};
  EXPECT_EQ((*host)->least_us(0, set).value(), 0);
  {
    const auto idle = value_of((*host)->open(workshop.build(twice("")), Trust::candidate, 0, {}));
    ASSERT_TRUE(idle->run({0, {&set}, 10}));
  }
  const double least_us = (*host)->least_us(0, set).value();
  EXPECT_GT(least_us, 1);
  EXPECT_EQ((*host)->least_us(0, set).value(), least_us) << "it is measured once";
}

}  // namespace
}  // namespace kernelsmith::cpu
