// WarmProgram: a program that was imported once and forks for each of its processes, because importing
// PyTorch takes seconds. Only for trusted programs: what one of them could change before a fork would reach
// all later ones, so the imported process itself runs nothing else.
#pragma once

#include <memory>
#include <stop_token>

#include <kernelsmith/core/mutex.hpp>
#include <kernelsmith/sandbox/spec.hpp>

#include "wire.hpp"

namespace kernelsmith::torch {

/// Thread-safe.
class WarmProgram {
 public:
  /// The limit for the imports.
  explicit WarmProgram(double import_s) : import_s_(import_s) {}

  /// Starts trusted_program()'s `python3 -m MODULE ARGUMENTS` by a fork of a process that has imported
  /// MODULE. The first call waits for the imports, and so does a call after that process has died or with
  /// another environment. If the imports leave threads, which a fork would lose, the program is started as
  /// usual. Errors: tool_missing, with Python's message; cancelled.
  Result<PythonProcess> start(const SandboxSpec& program, const std::stop_token& stop);

 private:
  class Warm;
  Result<std::shared_ptr<Warm>> warm(const SandboxSpec& program, const std::stop_token& stop);

  const double import_s_;
  Mutex mutex_;
  StoppableCondition changed_;
  bool importing_ KERNELSMITH_GUARDED_BY(mutex_) = false;
  std::shared_ptr<Warm> warm_ KERNELSMITH_GUARDED_BY(mutex_);
};

}  // namespace kernelsmith::torch
