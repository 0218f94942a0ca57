// RunPlaces: the hardware of each run. The first coordinator records it on the server with the run's first
// job. It applies to all later jobs of the run.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "bus.hpp"

namespace kernelsmith::fleet {

struct RunPlace {
  std::string hardware;
  bool begun_before = false;  ///< whether an earlier session began the run, so that results may be waiting
};

/// Not thread-safe.
class RunPlaces {
 public:
  RunPlaces(Bus& bus, std::string backend, std::string wanted, milliseconds wait_for_worker)
      : bus_(bus),
        backend_(std::move(backend)),
        wanted_(std::move(wanted)),
        wait_for_worker_(wait_for_worker) {}

  /// The place of a run. For a new run, waits for a worker as long as `is_wanted` returns true. Errors:
  /// Bus's, choose_hardware()'s, `invalid_argument` if the run was begun on other hardware, `timeout` if no
  /// worker comes, and `cancelled`.
  Result<RunPlace> place_of(const std::string& run, const std::function<bool()>& is_wanted,
                            const std::stop_token& stop);

 private:
  Result<std::optional<RunPlace>> written(const std::string& run, const std::stop_token& stop) const;
  Result<std::string> find_hardware(const std::function<bool()>& is_wanted, const std::stop_token& stop);

  Bus& bus_;
  const std::string backend_, wanted_;
  const milliseconds wait_for_worker_;
  std::map<std::string, RunPlace> places_;
  std::optional<std::chrono::steady_clock::time_point> without_worker_since_;
};

/// The error for a fleet without a worker that takes the backend's jobs.
Error without_worker(const std::string& backend, const std::string& hardware);

}  // namespace kernelsmith::fleet
