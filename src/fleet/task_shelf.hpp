// TaskShelf: a worker's tasks, ready to be run. A task comes from the server when its first job does; the
// least recently used goes for a new one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/task.hpp>

#include "bus.hpp"

namespace kernelsmith::fleet {

/// Thread-safe.
class TaskShelf {
 public:
  using Make = std::function<Result<std::shared_ptr<Evaluator>>(const Task&)>;

  TaskShelf(Bus& bus, std::string backend, Make make, std::size_t most)
      : bus_(bus), backend_(std::move(backend)), make_(std::move(make)), most_(most) {}
  ~TaskShelf();
  TaskShelf(const TaskShelf&) = delete;
  TaskShelf& operator=(const TaskShelf&) = delete;

  /// Prepares the task once for all callers; the others wait. A failure is returned and forgotten. Errors:
  /// `not_found` (the server has no such task), decode_task()'s, `bad_input` (a task of another backend), and
  /// the evaluator's.
  Result<std::shared_ptr<Evaluator>> evaluator_of(const Digest& task, const std::stop_token& stop);

 private:
  struct Entry {
    std::mutex preparing;
    std::shared_ptr<Evaluator> ready;  // guarded by preparing
    std::uint64_t last_use = 0;        // guarded by the shelf's mutex_
  };

  std::shared_ptr<Entry> entry_of(const Digest& task);
  Result<std::shared_ptr<Evaluator>> prepare(const Digest& task, const std::stop_token& stop);
  Status bring_evaluator(Task& task);

  Bus& bus_;
  const std::string backend_;
  const Make make_;
  const std::size_t most_;
  std::mutex mutex_;
  std::map<Digest, std::shared_ptr<Entry>> entries_;
  std::uint64_t uses_ = 0;
  std::filesystem::path folder_;  // guarded by mutex_: of the copies of evaluators; may be empty
};

}  // namespace kernelsmith::fleet
