// The terms that a change adds to a program, by which later runs recognise it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <kernelsmith/core/source.hpp>

namespace kernelsmith::memory {

/// The terms that occur more often in the new program than in the old one, without comments.
struct Change {
  /// Identifiers, numbers and strings. A number that is assigned to a name or a knob appears as "name=value",
  /// because the number alone says little.
  std::set<std::string> words;
  std::set<std::string> order;  ///< triples of tokens, for changes without new words
};

Change change_of(const Source& before, const Source& after);

/// The parts of the old and of the new program in the diff that a rule's text contains.
std::pair<Source, Source> sides_of(std::string_view text);

/// Whether `done` has at least half of the terms of `rule`.
bool follows(const Change& done, const Change& rule);

}  // namespace kernelsmith::memory
