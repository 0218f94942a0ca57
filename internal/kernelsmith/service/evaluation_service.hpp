// EvaluationService: candidates are evaluated for whoever asks over HTTP, in the terms of KernelGYM's REST
// contract, so that trainers written for it can use this judge (docs/service.md).
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

/// What the evaluation service serves, where, and within which limits.
struct ServiceOptions {
  http::ServerOptions http;

  std::vector<std::shared_ptr<const Task>> tasks;  ///< that requests may name, of different names
  Backends backends;                               ///< Registry::backends
  EvaluatorMaker make_evaluator;
  bool is_local = true;  ///< this machine evaluates; false: a fleet, and what this one has says nothing
  std::string precision = "fp32";  ///< TorchSettings::precision of tasks that are made of references

  std::chrono::seconds default_wait{0};                   ///< of a POST that names none
  unsigned workers = 4;                                   ///< evaluations under way at a time
  std::size_t prepared_tasks = 4;                         ///< evaluators that are kept ready
  std::size_t max_queue = 4096;                           ///< requests that wait; beyond: 503
  std::size_t max_queue_bytes = std::size_t{512} << 20;   ///< of their codes; beyond: 503
  std::size_t max_result_bytes = std::size_t{256} << 20;  ///< of what is kept; beyond, the oldest results go
  std::chrono::milliseconds max_wait = std::chrono::hours(1);  ///< of a request for its evaluation
  std::chrono::milliseconds late = std::chrono::minutes(30);   ///< once one waits for so long: 503 for others
  std::chrono::milliseconds rest =
      std::chrono::seconds(5);                              ///< of a task that the machine failed at; doubled
  std::chrono::milliseconds keep = std::chrono::hours(24);  ///< results
  std::chrono::milliseconds drain_limit = std::chrono::minutes(5);  ///< for what is under way when it stops
};

/// Serves from start() until it goes. Thread-safe.
class EvaluationService {
 public:
  /// Errors: those of http::Server::start(); `invalid_argument` for two tasks of one name.
  static Result<std::unique_ptr<EvaluationService>> start(ServiceOptions options);

  /// Stops at once: what is under way is given up.
  ~EvaluationService();
  EvaluationService(const EvaluationService&) = delete;
  EvaluationService& operator=(const EvaluationService&) = delete;

  std::string url() const;

  /// By backend that requests can be for, what this machine evaluates them on; kNoGpu: they would all fail.
  /// Empty if a fleet evaluates.
  const std::map<std::string, std::string>& hardware() const;

  /// Takes no further requests (503), drops what waits, and returns when what is under way is done and its
  /// clients had a while to fetch it, or at the limit, or when `stop` is requested. Answers questions
  /// meanwhile.
  void drain(const std::stop_token& stop = {});

 private:
  struct Impl;
  explicit EvaluationService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsmith
