// Static features of a source: numbers for archive axes that need no execution.
#pragma once

#include <map>
#include <string>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith {

/// The features, by name. Each is a sum over the files, unless its line says otherwise. Comments never count.
///   bytes         of all texts
///   lines         that contain a token
///   tokens        all except comments
///   loops         for, while, do
///   branches      if, elif, case, except, catch, ?:, &&, ||, and, or
///   calls         names followed by '(', including definitions
///   max_nesting   deepest bracket (C++, CUDA) or indentation (Python), maximum over the files
///   knobs         `@tune` comments
///   complexity    1 + loops + branches: McCabe's cyclomatic number, with the source as one function
/// In files of an unknown language only bytes, lines, tokens, calls and max_nesting are counted.
std::map<std::string, double> static_features(const Source& source);

}  // namespace kernelsmith
