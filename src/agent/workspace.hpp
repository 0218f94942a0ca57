// The folders that an agent works in: what it finds there, and where its asks and their answers lie.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>
#include <kernelsmith/sandbox/scratch_folder.hpp>

namespace kernelsmith::agent {

inline constexpr const char* kWorkspace = "/workspace";  ///< inside the sandbox; the agent's own
inline constexpr const char* kAnswers = "/answers";      ///< likewise; read-only there

/// Both folders on the host, removed with the object. The agent's files are read without following links.
class Workspace {
 public:
  /// Lays the task, the candidate to begin with, other programs with their verdicts, what the
  /// run has tried so far, and the tools.
  static Result<Workspace> lay(const PromptBuilder& prompts, const ProposalRequest& request,
                               std::string_view budget);

  const std::filesystem::path& folder() const { return work_.path(); }
  const std::filesystem::path& answers() const { return answers_.path(); }

  /// The ask of that number, from 1; `not_found` if there is none yet, `bad_input` for what is no ask.
  Result<std::string> ask(std::uint64_t number) const;
  Status answer(std::uint64_t number, std::string_view json) const;

 private:
  Workspace(ScratchFolder work, ScratchFolder answers)
      : work_(std::move(work)), answers_(std::move(answers)) {}

  ScratchFolder work_, answers_;
};

}  // namespace kernelsmith::agent
