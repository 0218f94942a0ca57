// The service's endpoints: they pass requests to the job table and return its answers.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <kernelsmith/service/router.hpp>

#include "job_table.hpp"
#include "metrics.hpp"
#include "task_resolver.hpp"

namespace kernelsmith::service {

/// The hardware of this machine for each backend that requests can use. Takes about a second.
std::map<std::string, std::string> hardware_of(const ServiceOptions& options);

/// The objects that handlers refer to; must outlive the server.
struct Parts {
  explicit Parts(const ServiceOptions& options)
      : workers(options.workers),
        max_queue(options.max_queue),
        default_wait(options.default_wait),
        keep(options.keep),
        hardware(hardware_of(options)),
        tasks(options.tasks, options.backends, options.precision),
        table(options) {}

  const unsigned workers;
  const std::size_t max_queue;
  const std::chrono::seconds default_wait;
  const std::chrono::milliseconds keep;
  const std::map<std::string, std::string> hardware;  ///< EvaluationService::hardware
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  TaskResolver tasks;
  HttpCounters http;
  JobTable table;
};

http::Router routes(Parts& parts);

}  // namespace kernelsmith::service
