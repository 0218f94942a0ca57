// The folders of an agent: its files, its asks and their answers.
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
inline constexpr const char* kAnswers = "/answers";      ///< inside the sandbox; read-only there

/// Owns both folders on the host and removes them. Reads the agent's files without following links.
class Workspace {
 public:
  /// Writes the task, the initial candidate, other programs with their verdicts, the run's history, and the
  /// tools.
  static Result<Workspace> lay(const PromptBuilder& prompts, const ProposalRequest& request,
                               std::string_view budget);

  const std::filesystem::path& folder() const { return work_.path(); }
  const std::filesystem::path& answers() const { return answers_.path(); }

  /// The ask of that number, from 1; `not_found` if there is none yet, `bad_input` for an invalid ask.
  Result<std::string> ask(std::uint64_t number) const;
  Status answer(std::uint64_t number, std::string_view json) const;

 private:
  Workspace(ScratchFolder work, ScratchFolder answers)
      : work_(std::move(work)), answers_(std::move(answers)) {}

  ScratchFolder work_, answers_;
};

}  // namespace kernelsmith::agent
