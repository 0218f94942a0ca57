// The manual proposer: a folder in which people, or any other program, are the model.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include <kernelsmith/core/proposer.hpp>
#include <kernelsmith/core/task.hpp>
#include <kernelsmith/prompts/prompt_builder.hpp>

namespace kernelsmith {

/// Where requests are left for people or other programs, and how replies are looked for.
struct ManualOptions {
  std::filesystem::path folder;             ///< made if it is missing
  std::chrono::milliseconds settle{1000};   ///< a text that has not changed for so long is complete
  std::chrono::milliseconds interval{100};  ///< between two looks at the folder
};

/// A Proposer that writes each request into a file of a folder and takes what is laid beside it as the
/// model's reply (docs/llm.md has the names and forms). What becomes of a reply is chat's: a child or a named
/// refusal. A file that is no reply is not taken: a message is laid beside it, and it is read again when it
/// changes.
///
/// A reply that an earlier session was given, and that this one asks for again with the same prompt, is taken
/// without asking. Requests that nobody waits for are removed: at the beginning, and on a stop request.
///
/// Errors: `busy` if another process uses the folder, `permission`, `io`.
Result<std::shared_ptr<Proposer>> make_manual_proposer(PromptBuilder prompts, const Task& task,
                                                       ManualOptions options);

}  // namespace kernelsmith
