// The service's endpoints: requests in, what the job table says out.
#pragma once

#include <chrono>
#include <string>

#include <kernelsmith/service/router.hpp>

#include "job_table.hpp"
#include "metrics.hpp"
#include "task_book.hpp"

namespace kernelsmith::service {

/// What handlers refer to; outlives the server.
struct Parts {
  explicit Parts(const ServiceOptions& options)
      : workers(options.workers),
        max_queue(options.max_queue),
        keep(options.keep),
        book(options.tasks, options.backends, options.precision),
        table(options) {}

  const unsigned workers;
  const std::size_t max_queue;
  const std::chrono::milliseconds keep;
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  TaskBook book;
  HttpCounters http;
  JobTable table;
};

http::Router routes(Parts& parts);

}  // namespace kernelsmith::service
