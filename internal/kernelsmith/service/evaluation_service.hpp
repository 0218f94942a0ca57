// EvaluationService: evaluates candidates for HTTP clients. It follows KernelGYM's REST contract, so that
// trainers that were written for KernelGYM can use this judge (docs/service.md).
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
  /// This machine evaluates. If false, a fleet evaluates, and this machine's hardware does not matter.
  bool is_local = true;
  std::string precision = "fp32";  ///< TorchSettings::precision of tasks made from references

  std::chrono::seconds default_wait{0};                  ///< the time that a POST waits if it does not say
  unsigned workers = 4;                                  ///< parallel evaluations
  std::size_t prepared_tasks = 4;                        ///< number of evaluators that are kept ready
  std::size_t max_queue = 4096;                          ///< waiting requests; more get 503
  std::size_t max_queue_bytes = std::size_t{512} << 20;  ///< bytes of all codes that wait; more get 503
  /// Limit of kept results; the oldest are dropped first.
  std::size_t max_result_bytes = std::size_t{256} << 20;
  /// Longest wait of a request for its evaluation.
  std::chrono::milliseconds max_wait = std::chrono::hours(1);
  /// While a request has waited this long, new requests get 503.
  std::chrono::milliseconds late = std::chrono::minutes(30);
  std::chrono::milliseconds rest = std::chrono::seconds(5);  ///< how long a task pauses after a failure of
                                                             ///< the machine; the pause doubles each time
  std::chrono::milliseconds keep = std::chrono::hours(24);   ///< how long results are kept
  /// When the service stops, how long it waits for evaluations that are under way.
  std::chrono::milliseconds drain_limit = std::chrono::minutes(5);
};

/// Serves from start() until it is destroyed. Thread-safe.
class EvaluationService {
 public:
  /// Errors: those of http::Server::start(); `invalid_argument` for two tasks with the same name.
  static Result<std::unique_ptr<EvaluationService>> start(ServiceOptions options);

  /// Stops at once and gives up evaluations under way.
  ~EvaluationService();
  EvaluationService(const EvaluationService&) = delete;
  EvaluationService& operator=(const EvaluationService&) = delete;

  std::string url() const;

  /// The hardware of this machine for each backend that requests can use. kNoGpu means that all requests for
  /// the backend would fail. Empty if a fleet evaluates.
  const std::map<std::string, std::string>& hardware() const;

  /// Refuses new requests (503) and drops waiting ones. Returns when the evaluations that are under way are
  /// done and their clients have had time to fetch the results, or at the limit, or when `stop` is requested.
  /// Status queries are still answered.
  void drain(const std::stop_token& stop = {});

 private:
  struct Impl;
  explicit EvaluationService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsmith
