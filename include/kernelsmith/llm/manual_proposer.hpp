// The manual proposer: a folder through which people or other programs act as the model.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>

namespace kernelsmith {

/// The folder for requests and replies, and how often it is checked.
struct ManualOptions {
  std::filesystem::path folder;             ///< created if it is missing
  std::chrono::milliseconds settle{1000};   ///< a file that has not changed for this long is complete
  std::chrono::milliseconds interval{100};  ///< time between two checks of the folder
};

/// A Proposer that writes each request into a file of a folder and reads the model's reply from a file next
/// to it (docs/llm.md has the names and forms). A reply becomes a child or a refusal, as for the chat
/// proposer. If a file is not a valid reply, a message is written next to it, and the file is read again when
/// it changes.
///
/// A reply from an earlier session is used again for the same prompt. Stale requests are removed at the
/// beginning and on a stop request.
///
/// Errors: `busy` if another process uses the folder, `permission`, `io`.
Result<std::shared_ptr<Proposer>> make_manual_proposer(PromptBuilder prompts, const Task& task,
                                                       ManualOptions options);

}  // namespace kernelsmith
