// Fingerprints: how a repeat is recognised. Two sources with one fingerprint compile to the same program.
#pragma once

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The digest of the paths and token streams. White space, comments and Python's docstrings do not count,
/// except where they can mean something: knob comments and EVOLVE-BLOCK markers, the spacing of preprocessor
/// lines, Python's indentation, all spacing where a macro makes strings of its arguments. Identifiers and
/// numbers count as written. A file that the lexer cannot read with certainty, uses its own line numbers or
/// texts (`__LINE__`, `__doc__`), or is in another language, counts byte for byte. Not seen: line numbers and
/// spacing used by macros of included headers, such as the text that `assert` prints.
Digest fingerprint(const Source& source);

}  // namespace kernelsmith
