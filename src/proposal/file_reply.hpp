// A model's text for one of the parent's files.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith::detail {

/// A source of one file; `path` must be valid.
Source one_file(const std::string& path, std::string text);

/// Replaces the file `path` of `parent`, which must exist, by `text`. If the parent has EVOLVE-BLOCKs, `text`
/// is the whole file or the contents of the blocks, with or without markers. Frozen text always comes from
/// the parent, and a text that changes more than its white space is refused.
std::variant<Source, Refusal> with_reply(const Source& parent, const std::string& path,
                                         std::string_view text);

}  // namespace kernelsmith::detail
