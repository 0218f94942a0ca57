// Unified diffs, for people.
#pragma once

#include <string>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The changes from `before` to `after` in the format of `diff -u` and `git diff`. Each file that differs has
/// the lines `--- a/PATH` and `+++ b/PATH` (/dev/null for a side that lacks the file) and hunks with three
/// lines of context. Empty if nothing differs.
std::string unified_diff(const Source& before, const Source& after);

}  // namespace kernelsmith
