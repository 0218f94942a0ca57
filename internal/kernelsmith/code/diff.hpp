// Unified diffs, for people.
#pragma once

#include <string>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// How to get from `before` to `after`: for each file that differs its `--- a/PATH` and `+++ b/PATH` lines
/// and hunks with three lines of context, as `diff -u` and `git diff` print them (/dev/null for a file that
/// only one side has). Empty if nothing differs.
std::string unified_diff(const Source& before, const Source& after);

}  // namespace kernelsmith
