// Ledger: the recorder's memory and operations outside of the cuda backend. The torch planner has a ledger,
// because its tensors come and go while an extension runs, and each operation is recorded when it is issued.
#pragma once

#include <cstdint>
#include <span>

#include <kernelsmith/evaluator/plan.hpp>

#include "planner/recording_abi.hpp"

namespace kernelsmith::cuda::planner {

struct KernelState;
struct Variable;

class Ledger {
 public:
  virtual ~Ledger() = default;
  virtual bool on_device(std::uint64_t address) = 0;
  /// The address of new memory; 0 if there is no room.
  virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
  virtual bool release(std::uint64_t address) = 0;
  virtual Code take(const decltype(plan::Operation::what)& what, std::span<const KernelState> kernels) = 0;
  /// Reads device memory.
  virtual Code copy_to_variable(const Variable& variable, std::uint64_t offset, std::uint64_t from,
                                std::uint64_t bytes) = 0;
};

}  // namespace kernelsmith::cuda::planner
