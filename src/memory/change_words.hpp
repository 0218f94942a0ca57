// What a change brings in, as words: by them a run's own changes are compared with a rule that it was shown.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kernelsmith::memory {

/// The identifiers and numbers that the added lines of a diff have and its removed lines lack. Other text
/// around the diff is passed over.
std::set<std::string> words_brought_in(std::string_view diff);

/// Whether a change that brought in `words` did at least half of what `rule` says; false for a rule without
/// words.
bool follows(const std::set<std::string>& words, const std::set<std::string>& rule);

}  // namespace kernelsmith::memory
