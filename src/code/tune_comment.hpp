// `@tune` and `@require` comments, in any language.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernelsmith/code/lexer.hpp>

namespace kernelsmith::detail {

inline constexpr std::string_view kTuneTag = "@tune", kRequireTag = "@require";

/// A comment with a tag.
struct TuneComment {
  std::size_t line = 1;
  std::size_t offset = 0;   ///< offset of the comment
  bool leads = false;       ///< the tag is its first word
  std::string_view values;  ///< what follows the tag, without the comment's closer
};

/// Parses a comment that includes its opener. Empty if it has no such tag.
std::optional<TuneComment> tune_comment(std::string_view comment, std::string_view tag = kTuneTag);

/// The comments of a text with the tag. In the language `other` a comment must begin with one of // # ! -- ;
/// % /*
/// <!-- (* directly before the tag.
std::vector<TuneComment> tune_comments(std::string_view text, Language language,
                                       const std::vector<Token>& tokens, std::string_view tag = kTuneTag);

/// A comment with a misspelt `@tune`: `@tunes`, `@Tune`, `@ tune`, `@tune:`, `@tune(1, 2)`.
struct NearTuneComment {
  std::size_t line = 1;
  std::size_t offset = 0;           ///< where the comment begins
  std::string_view written;         ///< the text from the `@` on, without the comment's closer
  std::vector<std::string> values;  ///< the words that follow, without punctuation
};

/// The comments of a text with a misspelt `@tune`.
std::vector<NearTuneComment> near_tune_comments(std::string_view text, Language language,
                                                const std::vector<Token>& tokens);

}  // namespace kernelsmith::detail
