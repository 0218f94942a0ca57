// What a change of a program brings in, by which later runs recognise it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::memory {

/// What the new program holds more often than the old one. Comments count nowhere.
struct Change {
  /// Identifiers, numbers and strings. A number that is given to a name, and the value of a knob, is
  /// "name=value": by itself it says nothing.
  std::set<std::string> words;
  std::set<std::string> order;  ///< triples of tokens: all that is left of a change without new words
};

Change change_of(const Source& before, const Source& after);

/// The two programs as far as the diff in a rule's text shows them.
std::pair<Source, Source> sides_of(std::string_view text);

/// Whether `done` brings in at least half of what `rule` does.
bool follows(const Change& done, const Change& rule);

}  // namespace kernelsmith::memory
