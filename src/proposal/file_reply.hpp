// A model's text for one of the parent's files.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith::detail {

/// A source of one file; `path` is one that a Source has.
Source one_file(const std::string& path, std::string text);

/// `parent` with `text` in place of its file `path`, which it has. If the parent has EVOLVE-BLOCKs,
/// `text` is the whole file or what goes into the blocks, with or without their markers; what is frozen
/// always comes from the parent, and a text that changes it by more than white space is refused.
std::variant<Source, Refusal> with_reply(const Source& parent, const std::string& path,
                                         std::string_view text);

}  // namespace kernelsmith::detail
