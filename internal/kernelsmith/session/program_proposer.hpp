// The proposer `python` of run.yaml: an object of a Python program, or an outside program (`kernelsmith
// mcp`).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// A stand-in that lacks the object. Its key `by` names the program that drives the run. Its settings can be
/// read, but make() returns an Error that says how to continue the run. The Python module supplies the
/// object.
class ProgramProposer : public ProposerProvider {
 public:
  /// `by` is the command `mcp` or `agent`. If empty, it is a program of the user.
  explicit ProgramProposer(std::string by = {}) : by_(std::move(by)) {}

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token& stop) const override;
  ProposerTraits traits() const override;

 private:
  void list(Section& io) override;

  std::string by_;
};

}  // namespace kernelsmith
