// ReferenceProcess: the worker that knows the reference. It is started again, and prepared again, if it
// died.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kernelsmith/core/task.hpp>
#include <kernelsmith/evaluator/input_set.hpp>
#include <kernelsmith/evaluator/torch/torch_settings.hpp>
#include <kernelsmith/evaluator/verdict.hpp>

#include "trusted_process.hpp"

namespace kernelsmith::torch {

/// How long the workers may take. Tests make it short.
struct WorkerLimits {
  double start_s = 300;    ///< to import PyTorch and open the device: a cold disk takes minutes
  double prepare_s = 900;  ///< the reference, compiled and tried: torch.compile takes minutes
  double load_s = 120;     ///< a plan's cubins, its alternatives timed; beyond what a call may take
  double compare_s = 120;  ///< the reference in fp64 beside it, for each set of a batch
  double grace_s = 20;     ///< beyond what its calls may take: inputs are drawn and outputs poisoned
};

/// The device, as it names itself.
struct DeviceFacts {
  std::string hardware;            ///< "NVIDIA H100 80GB HBM3"
  int arch = 90;                   ///< ten times major plus minor
  std::string bus_id;              ///< "0000:65:00.0": the GPU's name for every process
  std::uint64_t memory_bytes = 0;  ///< 0: not known
};

/// What the reference turned out to be.
struct ReferenceFacts {
  std::vector<TensorSpec> outputs;    ///< named "output 0", ...: all that messages need
  std::vector<TensorExtent> extents;  ///< of the outputs
  Json layouts;                       ///< of the outputs, as this process says: for the runners
  std::vector<std::string> variants;  ///< of the inputs: "given" first
  std::size_t slots = 1;              ///< calls that a batch can hold
  double compulsory_bytes = 0;        ///< read by each call
  double bytes_per_us = 0;            ///< of the device's memory; 0: not known
  double flops = 0;  ///< of a call's products, convolutions and attention; 0: none, or not known
  std::vector<std::string> notes;       ///< what it could not do with the reference
  std::vector<std::string> degenerate;  ///< names of the outputs that no input moves
  Json memory;                          ///< how the task is laid out there: for the runners
  std::uint64_t need_bytes = 0;         ///< of device memory, for all processes of the task
};

/// The task, as far as the process has to know it.
struct ReferenceSettings {
  std::filesystem::path reference;
  TorchSettings torch;
  Tolerance tolerance;
  std::size_t bank_bytes = 0;
  double batch_us = 200;
  std::size_t most_slots = 32;
  bool alone = false;  ///< no other process has claimed memory of the device
};

/// {"do": WHAT, "variant": V, "sets": [SEED...]}
Json batch_request(const char* what, std::size_t variant, const std::vector<const InputSet*>& sets);

/// Not thread-safe.
class ReferenceProcess {
 public:
  ReferenceProcess(WorkerStart start, WorkerLimits limits) : start_(std::move(start)), limits_(limits) {}

  /// Starts it and opens the device. Errors: unsupported if it sees none, tool_missing if it does not
  /// start, cancelled.
  Result<DeviceFacts> open(const std::stop_token& stop);

  /// Tries the reference. Errors: refused, with what is wrong with it; cancelled.
  Result<ReferenceFacts> prepare(const ReferenceSettings& settings, const std::stop_token& stop);

  /// After prepare(). Starts and prepares a new process if the last one died. A Rejection is what
  /// it found out about a candidate's outputs.
  Judged<Reply> ask(const Json& request, double timeout_s, const std::stop_token& stop);

  /// Frees what it can make again, on the device and beside it; a process that cannot is ended.
  void release();

  const WorkerLimits& limits() const { return limits_; }

 private:
  const WorkerStart start_;
  const WorkerLimits limits_;
  std::unique_ptr<TrustedProcess> worker_;
  Json preparation_;
};

}  // namespace kernelsmith::torch
