#include "run_places.hpp"

#include <thread>
#include <utility>

#include "messages.hpp"
#include "names.hpp"
#include "roster.hpp"

namespace kernelsmith::fleet {
namespace {

using std::chrono::steady_clock;

constexpr milliseconds kCountEvery{100};

}  // namespace

Error without_worker(const std::string& backend, const std::string& hardware) {
  return fail(
      ErrorCode::timeout,
      "the fleet has had no worker for the backend '" + backend + "'" +
          (hardware.empty() ? "" : " on " + hardware) + " for too long",
      "evaluator.fleet",
      "start a worker: kernelsmith worker --nats URL; kernelsmith doctor says what its machine lacks");
}

Result<std::optional<RunPlace>> RunPlaces::written(const std::string& run,
                                                   const std::stop_token& stop) const {
  const auto stored = bus_.latest(kFleetStream, run_subject(run), stop);
  if (!stored) return stored.error();
  if (!*stored) return std::optional<RunPlace>();
  auto hardware = decode_hardware((*stored)->payload);
  if (!hardware) return hardware.error();
  if (!hardware->empty() && !is_wanted(*hardware, wanted_))
    return fail(ErrorCode::invalid_argument,
                "this run was begun on \"" + *hardware +
                    "\", and scores of other hardware do not compare with its scores",
                "evaluator.fleet.hardware", "leave the setting out, or begin a new run");
  return std::optional(RunPlace{std::move(*hardware), true});
}

Result<std::string> RunPlaces::find_hardware(const std::function<bool()>& is_wanted,
                                             const std::stop_token& stop) {
  for (;;) {
    const auto workers = read_roster(bus_, stop);
    if (!workers) return workers.error();
    auto chosen = choose_hardware(hardware_of(*workers, backend_), wanted_);
    if (!chosen) return chosen.error();
    if (*chosen) {
      without_worker_since_.reset();
      return std::move(**chosen);
    }
    const auto now = steady_clock::now();
    if (!without_worker_since_) without_worker_since_ = now;
    if (now - *without_worker_since_ >= wait_for_worker_) return without_worker(backend_, wanted_);
    if (stop.stop_requested() || !is_wanted()) return fail(ErrorCode::cancelled, "stopped");
    std::this_thread::sleep_for(kCountEvery);
  }
}

Result<RunPlace> RunPlaces::place_of(const std::string& run, const std::function<bool()>& is_wanted,
                                     const std::stop_token& stop) {
  if (const auto known = places_.find(run); known != places_.end()) return known->second;
  auto place = written(run, stop);
  if (!place) return place.error();
  if (!*place) {
    const auto hardware = find_hardware(is_wanted, stop);
    if (!hardware) return hardware.error();
    const auto put = bus_.put({kFleetStream, run_subject(run), encode_hardware(*hardware), "", true}, stop);
    if (!put) return put.error();
    *place = RunPlace{*hardware, false};
    if (put->sequence == 0) {
      place = written(run, stop);
      if (!place) return place.error();
      if (!*place) return fail(ErrorCode::server_failed, "the server lost its record of the run", run);
    }
  }
  return places_[run] = **place;
}

}  // namespace kernelsmith::fleet
