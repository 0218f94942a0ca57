// Extraction: turns a model's reply into a child, or into a refusal that explains the fault of the reply.
#pragma once

#include <string_view>
#include <variant>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The form that the prompt asked for.
enum class ReplyForm {
  whole,   ///< whole files, or the contents of the EVOLVE-BLOCKs
  edits,   ///< SEARCH/REPLACE edits of the parent
  either,  ///< edits if the reply has some, else whole files
};

/// Extracts the child that `reply` describes, given its parent. The child always has the parent's files,
/// passes check_frozen(parent, child), and is never the parent itself (`unchanged`). Reasoning is dropped:
/// text between tags for thoughts, or for a draft before the answer. extract() accepts the last fenced code
/// block that can be the program, with or without a tag and surrounding prose; unfenced edits; unfenced text
/// with EVOLVE-BLOCK markers; and several files, if each fence is named by its info string, by a line before
/// it or by a comment in its first line. A file may be whole, or only the contents of its single block, with
/// or without markers. Frozen text that a reply repeats must be unchanged (`edit_frozen`).
/// src/proposal/README.md has the rules. `cut_off` means that the reply ended at a length limit; it is
/// refused as truncated. The work is bounded (`too_large`): 4 MiB, 200 code blocks, and the limits of
/// apply_edits(). A child has at most 1 MiB, or its parent's size if that is larger.
std::variant<Source, Refusal> extract(std::string_view reply, const Source& parent, ReplyForm form,
                                      bool cut_off = false);

}  // namespace kernelsmith
