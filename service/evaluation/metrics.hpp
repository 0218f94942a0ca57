// The output of /metrics in Prometheus' text format, and HTTP counters that the job table lacks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/service/http_server.hpp>

#include "job_table.hpp"

namespace kernelsmith::service {

/// Counts requests of the HTTP server. Thread-safe.
class HttpCounters {
 public:
  void add(const http::Served& served);

  /// The counts as lines in Prometheus' format.
  std::string text() const;

 private:
  using Key = std::pair<std::string, unsigned>;  ///< "GET /status/{id}", 200

  mutable Mutex mutex_;
  std::map<Key, std::uint64_t> requests_ KERNELSMITH_GUARDED_BY(mutex_);
  std::map<std::string, Histogram> seconds_ KERNELSMITH_GUARDED_BY(mutex_);  ///< by route
};

std::string metrics_text(const Counts& counts, unsigned workers, double uptime_s);

}  // namespace kernelsmith::service
