// Fingerprints identify repeats. Two sources with the same fingerprint compile to the same program.
#pragma once

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The digest of the paths and token streams. White space, comments and Python's docstrings are ignored.
/// Exceptions are those that can have a meaning: knob comments, EVOLVE-BLOCK markers, the spacing of
/// preprocessor lines, Python's indentation, and all spacing if a macro turns its arguments into strings.
/// Identifiers and numbers are compared as they are written. The bytes of a file are digested if the lexer
/// cannot read it with certainty, if it uses its own line numbers or texts (`__LINE__`, `__doc__`), or if it
/// is in another language. Macros of included headers may use line numbers or spacing, such as the text of
/// `assert`. That is not noticed.
Digest fingerprint(const Source& source);

}  // namespace kernelsmith
