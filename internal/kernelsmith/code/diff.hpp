// Unified diffs, for people.
#pragma once

#include <string>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The changes from `before` to `after` in the format of `diff -u` and `git diff`: for each file that
/// differs, `--- a/PATH` and `+++ b/PATH` lines and hunks with three lines of context (/dev/null for a file
/// that only one side has). Empty if nothing differs.
std::string unified_diff(const Source& before, const Source& after);

}  // namespace kernelsmith
