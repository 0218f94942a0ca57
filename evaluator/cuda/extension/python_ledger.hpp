// PythonLedger: a ledger for the recorder that passes everything on to Python's tensors and tape.
#pragma once

#include "planner/ledger.hpp"
#include "planner/recorder.hpp"

namespace kernelsmith::extension {

class PythonLedger final : public cuda::planner::Ledger {
 public:
  bool on_device(std::uint64_t address) override;
  std::uint64_t allocate(std::uint64_t bytes) override;
  bool release(std::uint64_t address) override;
  cuda::planner::Code take(const decltype(plan::Operation::what)& what,
                           std::span<const cuda::planner::KernelState> kernels) override;
  cuda::planner::Code copy_to_variable(const cuda::planner::Variable& variable, std::uint64_t offset,
                                       std::uint64_t from, std::uint64_t bytes) override;
};

}  // namespace kernelsmith::extension
