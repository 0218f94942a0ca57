// EvaluationService: evaluates candidates for HTTP clients with KernelGYM's REST contract, so that trainers
// written for KernelGYM can use this judge (docs/service.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/backend_description.hpp>
#include <kernelsmith/evaluator/prepared_tasks.hpp>
#include <kernelsmith/service/http_server.hpp>

namespace kernelsmith {

/// The evaluation service's tasks, address and limits.
struct ServiceOptions {
  http::ServerOptions http;

  std::vector<std::shared_ptr<const Task>> tasks;  ///< tasks that requests may name; names are unique
  Backends backends;                               ///< Registry::backends
  EvaluatorMaker make_evaluator;
  /// This machine evaluates; false: a fleet does, and this machine's hardware is irrelevant.
  bool is_local = true;
  std::string precision = "fp32";  ///< TorchSettings::precision of tasks made from references

  std::chrono::seconds default_wait{0};                  ///< default of a POST without one
  unsigned workers = 4;                                  ///< parallel evaluations
  std::size_t prepared_tasks = 4;                        ///< evaluators kept ready
  std::size_t max_queue = 4096;                          ///< waiting requests; more get 503
  std::size_t max_queue_bytes = std::size_t{512} << 20;  ///< bytes of their codes; more get 503
  /// Limit of kept results; the oldest are dropped first.
  std::size_t max_result_bytes = std::size_t{256} << 20;
  /// Longest wait of a request for its evaluation.
  std::chrono::milliseconds max_wait = std::chrono::hours(1);
  /// Once a request has waited this long, others get 503.
  std::chrono::milliseconds late = std::chrono::minutes(30);
  std::chrono::milliseconds rest =
      std::chrono::seconds(5);  ///< pause of a task after a failure of the machine; doubled each time
  std::chrono::milliseconds keep = std::chrono::hours(24);  ///< results
  /// For evaluations under way when it stops.
  std::chrono::milliseconds drain_limit = std::chrono::minutes(5);
};

/// Serves from start() until its destruction. Thread-safe.
class EvaluationService {
 public:
  /// Errors: those of http::Server::start(); `invalid_argument` for two tasks with the same name.
  static Result<std::unique_ptr<EvaluationService>> start(ServiceOptions options);

  /// Stops at once and gives up evaluations under way.
  ~EvaluationService();
  EvaluationService(const EvaluationService&) = delete;
  EvaluationService& operator=(const EvaluationService&) = delete;

  std::string url() const;

  /// The hardware of this machine for each backend that requests can use; kNoGpu: they would all fail. Empty
  /// if a fleet evaluates.
  const std::map<std::string, std::string>& hardware() const;

  /// Refuses new requests (503), drops waiting ones, and returns when the evaluations under way are done and
  /// their clients had time to fetch the results, or at the limit, or when `stop` is requested. Status
  /// queries are still answered.
  void drain(const std::stop_token& stop = {});

 private:
  struct Impl;
  explicit EvaluationService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsmith
