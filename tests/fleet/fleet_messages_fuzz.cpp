// What arrives from the fleet's server: whatever is accepted is written back and read again.
#include <cstdint>
#include <string>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/evaluator/task_file.hpp>

#include "fuzz.hpp"
#include "messages.hpp"

using namespace kernelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto job = fleet::decode_job(text)) {
    const std::string body = to_json(job->job);
    const auto again =
        fleet::decode_job(fleet::encode_job({fleet::key_of(job->job, body), job->id.round}, body));
    require(again && again->job == job->job);
  }
  if (const auto result = fleet::decode_result(text)) {
    const auto again = fleet::decode_result(fleet::encode_result(*result, std::size_t{1} << 30));
    require(again && again->id == result->id && again->answer.has_value() == result->answer.has_value());
  }
  if (const auto worker = fleet::decode_worker(text)) {
    const auto again = fleet::decode_worker(fleet::encode_worker(*worker));
    require(again && *again == *worker);
  }
  if (const auto task = fleet::decode_task(text)) require(task_digest(*task) == task->digest);
  if (const auto hardware = fleet::decode_hardware(text))
    require(fleet::decode_hardware(fleet::encode_hardware(*hardware)).value() == *hardware);
  (void)fleet::check_protocol(text);
  (void)fleet::JobId::parse(text);
  return 0;
}
