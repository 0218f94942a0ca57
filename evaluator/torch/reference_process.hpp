// ReferenceProcess: the worker with the reference. A process that died is replaced by one that is prepared
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
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

/// Time limits of the workers. Tests shorten them.
struct WorkerLimits {
  double start_s = 300;    ///< importing PyTorch, or opening the device: a cold disk takes minutes
  double prepare_s = 900;  ///< compiling and trying the reference: torch.compile takes minutes
  double load_s = 120;     ///< loading a plan's cubins and timing its alternatives, in addition to its calls
  double compare_s = 120;  ///< running the reference in fp64, for each set of a batch
  double grace_s = 20;     ///< drawing inputs and poisoning outputs, in addition to the calls
};

/// The device's own name and properties.
struct DeviceFacts {
  std::string hardware;            ///< "NVIDIA H100 80GB HBM3"
  int arch = 90;                   ///< ten times major plus minor
  std::string bus_id;              ///< "0000:65:00.0": the GPU's name for every process
  std::uint64_t memory_bytes = 0;  ///< 0: not known
};

/// The properties of the reference at one workload.
struct WorkloadFacts {
  TorchWorkload told;
  std::vector<TensorSpec> outputs;    ///< named "output 0", ...: all that messages need
  std::vector<TensorExtent> extents;  ///< layouts of the outputs
  Json layouts;                       ///< this process's description of the outputs, for the runners
  std::vector<std::string> variants;  ///< variants of the inputs; the first is "given"
  std::size_t slots = 1;              ///< the most calls of a batch
  double compulsory_bytes = 0;        ///< bytes that each call reads
  double flops = 0;  ///< operations of a call's products, convolutions and attention; 0: none or unknown
  std::vector<std::string> degenerate;  ///< names of the outputs that do not depend on the inputs
  Json memory;                          ///< the memory plan, for the runners
  std::uint64_t need_bytes = 0;         ///< device memory of all processes of the task

  /// Bytes that a call must read and write.
  double bytes_moved() const;
};

/// The properties of the reference.
struct ReferenceFacts {
  std::vector<WorkloadFacts> workloads;    ///< never empty
  double bytes_per_us = 0;                 ///< speed of the device's memory; 0: not known
  std::vector<std::string> notes;          ///< what failed for the reference, and may explain its time
  std::map<std::string, double> spent_ms;  ///< by step of the preparation

  /// The one that needs the most memory.
  const WorkloadFacts& largest() const;
  bool has_degenerate() const;
};

/// The part of the task that the process needs.
struct ReferenceSettings {
  std::filesystem::path reference;
  TorchSettings torch;
  Tolerance tolerance;
  std::size_t bank_bytes = 0;
  double batch_us = 200;
  std::size_t most_slots = 32;
  bool alone = false;  ///< no other process has claimed memory of the device
};

/// The request {"do": WHAT, "workload": W, "variant": V, "sets": [SEED...]}.
Json batch_request(const char* what, std::size_t workload, std::size_t variant,
                   const std::vector<const InputSet*>& sets);

/// The key `kernels` of both workers' requests to prepare: the texts and launches of the cuda backend's own
/// kernels.
Json own_kernels();

/// Not thread-safe.
class ReferenceProcess {
 public:
  ReferenceProcess(WorkerStart start, WorkerLimits limits) : start_(std::move(start)), limits_(limits) {}

  /// Starts the process and opens the device. Errors: unsupported if there is no device, tool_missing if the
  /// process does not start, cancelled.
  Result<DeviceFacts> open(const std::stop_token& stop);

  /// Loads the reference as far as that needs no GPU. An error comes again in prepare().
  void read(const ReferenceSettings& settings, const std::stop_token& stop);

  /// Does the part of prepare() that times nothing. Errors: those of prepare().
  Status try_reference(const ReferenceSettings& settings, const std::stop_token& stop);

  /// Tries and times the reference. Errors: refused, with the reference's fault; cancelled.
  Result<ReferenceFacts> prepare(const ReferenceSettings& settings, const std::stop_token& stop);

  /// Call it after prepare(). Starts and prepares a new process if the last one died. A Rejection is the
  /// process's verdict on a candidate's outputs.
  Judged<Reply> ask(const Json& request, double timeout_s, const std::stop_token& stop);

  /// Frees everything on the device and the host that the process can make again; ends the process if this
  /// fails.
  void release();

  const WorkerLimits& limits() const { return limits_; }

 private:
  /// Replaces the process if it died.
  Status reopened(const std::stop_token& stop);

  const WorkerStart start_;
  const WorkerLimits limits_;
  std::unique_ptr<TrustedProcess> worker_;
  Json preparation_;
};

}  // namespace kernelsmith::torch
