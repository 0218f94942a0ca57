// Fingerprints identify repeats. Two sources with the same fingerprint compile to the same program.
#pragma once

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The digest of the paths and token streams. White space, comments and Python's docstrings are ignored,
/// unless they can have a meaning: knob comments, EVOLVE-BLOCK markers, spacing of preprocessor lines,
/// Python's indentation, and all spacing if a macro makes strings of its arguments. Identifiers and numbers
/// count as written. A file is digested byte by byte if the lexer cannot read it with certainty, if it uses
/// its own line numbers or texts (`__LINE__`, `__doc__`), or if it is in another language. Line numbers and
/// spacing that macros of included headers use, such as the text of `assert`, are not noticed.
Digest fingerprint(const Source& source);

}  // namespace kernelsmith
