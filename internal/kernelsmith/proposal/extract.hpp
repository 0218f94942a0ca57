// Extraction: from a model's reply to a child, or to a refusal that says what was wrong with the reply.
#pragma once

#include <string_view>
#include <variant>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// What the prompt asked for.
enum class ReplyForm {
  whole,   ///< whole files, or what goes between the markers of the EVOLVE-BLOCKs
  edits,   ///< SEARCH/REPLACE edits of the parent
  either,  ///< edits if the reply holds some, else whole files
};

/// The child that `reply` describes, given its parent. The child always has the parent's files, passes
/// check_frozen(parent, child), and is never the parent itself (`unchanged`). Reasoning is left out: pairs of
/// tags around thoughts, or around a draft before the answer. Taken: the last fenced code block that can
/// stand for the program, with any tag or none and prose around; unfenced edits; an unfenced text that holds
/// EVOLVE-BLOCK markers; several files, each fence named by its info string, by a line before it or by a
/// comment in its first line; the whole file, or the contents of its only block, with or without markers.
/// Frozen text that a reply repeats is compared (`edit_frozen`). src/proposal/README.md has the rules.
/// `cut_off` says that the reply ended at a length limit: such a reply is refused as truncated. The work is
/// bounded, whatever the reply (`too_large`): 4 MiB of it, 200 code blocks, edits as apply_edits() bounds
/// them. A child has at most 1 MiB, or its parent's size if that is more.
std::variant<Source, Refusal> extract(std::string_view reply, const Source& parent, ReplyForm form,
                                      bool cut_off = false);

}  // namespace kernelsmith
