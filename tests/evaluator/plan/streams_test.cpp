// What plan::check() says of streams and events.
#include "calls.hpp"

namespace kernelsmith::plan {
namespace {

const Memset kWork{kY, 0, 1, 16};

struct Step {
  std::uint32_t stream;
  decltype(Operation::what) what;
};

std::string said_of_stream(std::initializer_list<Step> steps) {
  Call call;
  for (const Step& step : steps) call.operations.push_back({step.stream, step.what});
  return said_of(call);
}

TEST(PlanStreams, ForkAndJoin) {
  EXPECT_EQ(said_of_stream({{0, kWork},
                            {0, EventRecord{0}},
                            {1, EventWait{0}},
                            {1, kWork},
                            {0, kWork},
                            {1, EventRecord{1}},
                            {0, EventWait{1}},
                            {0, kWork}}),
            "right");
}

TEST(PlanStreams, JoinThroughOthers) {
  EXPECT_EQ(said_of_stream({{0, EventRecord{0}},
                            {1, EventWait{0}},
                            {1, kWork},
                            {1, EventRecord{1}},
                            {2, EventWait{1}},
                            {2, kWork},
                            {2, EventRecord{2}},
                            {0, EventWait{2}}}),
            "right");
}

TEST(PlanStreams, ForkAgainAfterAJoin) {
  EXPECT_EQ(said_of_stream({{0, EventRecord{0}},
                            {1, EventWait{0}},
                            {1, kWork},
                            {1, EventRecord{1}},
                            {0, EventWait{1}},
                            {0, EventRecord{0}},
                            {1, EventWait{0}},
                            {1, kWork},
                            {1, EventRecord{1}},
                            {0, EventWait{1}},
                            {1, EventRecord{3}}}),
            "right");
}

TEST(PlanStreams, AreForkedBeforeTheyAreUsed) {
  EXPECT_EQ(said_of_stream({{0, kWork}, {1, kWork}}),
            "operation 2: stream 1 is used before it waits for the call's own stream");
  EXPECT_THAT(said_of_stream({{1, EventRecord{0}}, {0, EventWait{0}}}),
              HasSubstr("operation 1: stream 1 is used before"));
}

TEST(PlanStreams, WaitOnlyForEventsOfTheCall) {
  EXPECT_EQ(said_of_stream({{0, EventWait{3}}}),
            "operation 1: cudaStreamWaitEvent for event 3, which this call has not recorded before");
  EXPECT_THAT(said_of_stream({{1, EventWait{0}}, {0, EventRecord{0}}}),
              HasSubstr("operation 1: cudaStreamWaitEvent for event 0"));
}

TEST(PlanStreams, AreJoinedAtTheEnd) {
  EXPECT_EQ(said_of_stream({{0, EventRecord{0}}, {1, EventWait{0}}, {1, kWork}, {0, kWork}}),
            "operation 3: stream 1 is not joined: its last operation may still run when the call ends");
}

TEST(PlanStreams, AreJoinedAfterTheirLastOperation) {
  EXPECT_THAT(said_of_stream({{0, EventRecord{0}},
                              {1, EventWait{0}},
                              {1, kWork},
                              {1, EventRecord{1}},
                              {0, EventWait{1}},
                              {1, kWork}}),
              StartsWith("operation 6: stream 1 is not joined"));
  EXPECT_THAT(said_of_stream({{0, EventRecord{0}},
                              {1, EventWait{0}},
                              {1, kWork},
                              {1, EventRecord{1}},
                              {1, kWork},
                              {0, EventWait{1}}}),
              StartsWith("operation 5: stream 1 is not joined"));
}

TEST(PlanStreams, AreNotJoinedByAnEventThatNobodyWaitsFor) {
  EXPECT_THAT(said_of_stream({{0, EventRecord{0}}, {1, EventWait{0}}, {1, kWork}, {1, EventRecord{1}}}),
              HasSubstr("stream 1 is not joined"));
}

TEST(PlanStreams, AreNotJoinedByAStreamThatIsNotItself) {
  EXPECT_THAT(said_of_stream({{0, EventRecord{0}},
                              {1, EventWait{0}},
                              {1, kWork},
                              {1, EventRecord{1}},
                              {2, EventWait{1}},
                              {2, kWork}}),
              HasSubstr("stream 1 is not joined"));
}

TEST(PlanStreams, AreNotJoinedByAnEarlierRecordOfTheEvent) {
  EXPECT_THAT(said_of_stream({{0, EventRecord{0}},
                              {1, EventWait{0}},
                              {1, kWork},
                              {1, EventRecord{1}},
                              {0, EventRecord{1}},
                              {0, EventWait{1}}}),
              HasSubstr("stream 1 is not joined"));
}

TEST(PlanStreams, ThatOnlyWaitAreJoinedToo) {
  EXPECT_THAT(said_of_stream({{0, EventRecord{0}}, {1, EventWait{0}}}),
              HasSubstr("operation 2: stream 1 is not joined"));
}

TEST(PlanStreams, HaveNumbersWithinTheLimits) {
  EXPECT_THAT(said_of_stream({{kMaxStreams, kWork}}), HasSubstr("stream 64; a call has at most 64 streams"));
  EXPECT_THAT(said_of_stream({{0, EventRecord{kMaxEvents}}}),
              HasSubstr("event 1024; a call has at most 1024 events"));
  EXPECT_THAT(said_of_stream({{0, EventWait{kMaxEvents}}}),
              HasSubstr("event 1024; a call has at most 1024 events"));
  EXPECT_EQ(said_of_stream(
                {{0, EventRecord{1023}}, {63, EventWait{1023}}, {63, EventRecord{0}}, {0, EventWait{0}}}),
            "right");
}

}  // namespace
}  // namespace kernelsmith::plan
