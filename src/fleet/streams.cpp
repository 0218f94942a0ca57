// The fleet's streams and its protocol, which workers and coordinators check before anything else.
#include "messages.hpp"
#include "names.hpp"
#include "roster.hpp"

namespace kernelsmith::fleet {
namespace {

using namespace std::chrono_literals;

constexpr milliseconds kDay = 24h;
/// How long the server remembers message ids: a publisher without an answer retries within this time. The
/// server keeps these ids in memory.
constexpr milliseconds kRepeatWindow = 2min;
constexpr std::int64_t kMostJobs = 65'536;

constexpr StreamSpec kStreams[] = {
    {.name = kJobsStream,
     .subjects = "kernelsmith.jobs.>",
     .work_queue = true,
     .max_age = 7 * kDay,
     .most_messages = kMostJobs,
     .repeat_window = kRepeatWindow},
    {.name = kResultsStream,
     .subjects = "kernelsmith.results.>",
     .max_age = 7 * kDay,
     .per_subject = 1,
     .repeat_window = kRepeatWindow},
    {.name = kTasksStream, .subjects = "kernelsmith.tasks.>", .max_age = 30 * kDay, .per_subject = 1},
    {.name = kFleetStream, .subjects = "kernelsmith.fleet.>", .max_age = 90 * kDay, .per_subject = 1},
    {.name = kBegunStream,
     .subjects = "kernelsmith.begun.>",
     .in_memory = true,
     .max_age = 1 * kDay,
     .per_subject = 1},
    {.name = kWorkersStream,
     .subjects = "kernelsmith.workers.>",
     .in_memory = true,
     .max_age = 30s,
     .per_subject = 1},
};

}  // namespace

Status join_fleet(Bus& bus, const std::stop_token& stop) {
  for (const StreamSpec& stream : kStreams)
    if (Status made = bus.declare(stream, stop); !made) return made;
  const auto put = bus.put({kFleetStream, kProtocolSubject, encode_protocol(), "", true}, stop);
  if (!put) return put.error();
  if (put->sequence != 0) return {};
  const auto written = bus.latest(kFleetStream, kProtocolSubject, stop);
  if (!written) return written.error();
  return *written ? check_protocol((*written)->payload) : Status();
}

}  // namespace kernelsmith::fleet
