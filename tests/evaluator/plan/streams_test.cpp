// What plan::check() says of streams and events.
#include <sstream>

#include "calls.hpp"

namespace kernelsmith::plan {
namespace {

/// Steps such as "0 work, 0 record 3, 1 wait 3": the stream, what it does, and the event.
struct Streams {
  const char* name;
  const char* steps;
  const char* said;
};

Call call_of_steps(const std::string& steps) {
  Call call;
  std::istringstream all(steps);
  for (std::string one; std::getline(all, one, ',');) {
    std::istringstream words(one);
    Operation operation;
    std::string does;
    std::uint32_t event = 0;
    words >> operation.stream >> does >> event;
    if (does == "work") operation.what = Memset{kY, 0, 1, 16};
    if (does == "record") operation.what = EventRecord{event};
    if (does == "wait") operation.what = EventWait{event};
    call.operations.push_back(operation);
  }
  return call;
}

class PlanStreams : public testing::TestWithParam<Streams> {};

TEST_P(PlanStreams, Say) {
  EXPECT_THAT(said_of(call_of_steps(GetParam().steps)), StartsWith(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    That, PlanStreams,
    testing::Values(
        Streams{"fork_and_join", "0 work, 0 record 0, 1 wait 0, 1 work, 0 work, 1 record 1, 0 wait 1, 0 work",
                "right"},
        Streams{"join_through_others",
                "0 record 0, 1 wait 0, 1 work, 1 record 1, 2 wait 1, 2 work, 2 record 2, 0 wait 2", "right"},
        Streams{"fork_again_after_a_join",
                "0 record 0, 1 wait 0, 1 work, 1 record 1, 0 wait 1, "
                "0 record 0, 1 wait 0, 1 work, 1 record 1, 0 wait 1, 1 record 3",
                "right"},
        Streams{"work_before_they_are_forked", "0 work, 1 work",
                "operation 2: stream 1 is used before it waits for the call's own stream"},
        Streams{"record_before_they_are_forked", "1 record 0, 0 wait 0",
                "operation 1: stream 1 is used before"},
        Streams{"wait_for_an_event_of_another_call", "0 wait 3",
                "operation 1: cudaStreamWaitEvent for event 3, which this call has not recorded before"},
        Streams{"wait_for_what_is_recorded_later", "1 wait 0, 0 record 0",
                "operation 1: cudaStreamWaitEvent for event 0"},
        Streams{"are_not_joined", "0 record 0, 1 wait 0, 1 work, 0 work",
                "operation 3: stream 1 is not joined: its last operation may still run when the call ends"},
        Streams{"work_after_the_join", "0 record 0, 1 wait 0, 1 work, 1 record 1, 0 wait 1, 1 work",
                "operation 6: stream 1 is not joined"},
        Streams{"work_after_the_record", "0 record 0, 1 wait 0, 1 work, 1 record 1, 1 work, 0 wait 1",
                "operation 5: stream 1 is not joined"},
        Streams{"record_what_nobody_waits_for", "0 record 0, 1 wait 0, 1 work, 1 record 1",
                "operation 3: stream 1 is not joined"},
        Streams{"are_joined_by_a_stream_that_is_not_itself",
                "0 record 0, 1 wait 0, 1 work, 1 record 1, 2 wait 1, 2 work",
                "operation 3: stream 1 is not joined"},
        Streams{"are_joined_by_an_earlier_record_of_the_event",
                "0 record 0, 1 wait 0, 1 work, 1 record 1, 0 record 1, 0 wait 1",
                "operation 3: stream 1 is not joined"},
        Streams{"only_wait_and_are_not_joined", "0 record 0, 1 wait 0",
                "operation 2: stream 1 is not joined"},
        Streams{"are_too_many", "64 work", "operation 1: stream 64; a call has at most 64 streams"},
        Streams{"record_too_many_events", "0 record 1024",
                "operation 1: event 1024; a call has at most 1024 events"},
        Streams{"wait_for_too_many_events", "0 wait 1024",
                "operation 1: event 1024; a call has at most 1024 events"},
        Streams{"have_the_highest_numbers", "0 record 1023, 63 wait 1023, 63 record 0, 0 wait 0", "right"}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace kernelsmith::plan
