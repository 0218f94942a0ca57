// The proposer `python` of run.yaml: an object of a Python program, or somebody outside (`kernelsmith mcp`).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <kernelsmith/session/registry.hpp>

namespace kernelsmith {

/// What is known of it without the object: its key `by` names what drives it. It can be read, and make() says
/// what goes on with its run; the Python module gives the object.
class ProgramProposer : public ProposerProvider {
 public:
  /// `by` is `mcp` or `agent`, as the commands are called; empty: a program of the user's.
  explicit ProgramProposer(std::string by = {}) : by_(std::move(by)) {}

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token& stop) const override;
  ProposerTraits traits() const override;

 private:
  void list(Section& io) override;

  std::string by_;
};

}  // namespace kernelsmith
