// RunPlaces: the hardware of each run. The first coordinator records it on the server with the run's first
// job, and it applies to all later ones.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "bus.hpp"

namespace kernelsmith::fleet {

struct RunPlace {
  std::string hardware;
  bool begun_before = false;  ///< by an earlier session: results may be waiting
};

/// Not thread-safe.
class RunPlaces {
 public:
  RunPlaces(Bus& bus, std::string backend, std::string wanted, milliseconds wait_for_worker)
      : bus_(bus),
        backend_(std::move(backend)),
        wanted_(std::move(wanted)),
        wait_for_worker_(wait_for_worker) {}

  /// Waits for a worker while `is_wanted` says so (else `cancelled`). Errors: Bus's, choose_hardware()'s,
  /// `invalid_argument` if the run was begun on other hardware, `timeout` without a worker.
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

/// The error if no worker takes the backend's jobs.
Error without_worker(const std::string& backend, const std::string& hardware);

}  // namespace kernelsmith::fleet
