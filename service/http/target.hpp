// The target of a request line, parsed and decoded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsmith::http {

struct Target {
  std::string path;                   ///< percent-encoded, without the query
  std::vector<std::string> segments;  ///< of the path, decoded: "/a/b%2Fc" has "a" and "b/c", "/" none
  std::map<std::string, std::string> query;
};

/// Returns empty unless the target is a path (origin form) or http URL (absolute form), free of broken
/// percent escapes and of control characters, encoded or not.
std::optional<Target> parse_target(std::string_view text);

/// The text with "%41" decoded, and "+" as a blank if `plus_is_blank`.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank = false);

}  // namespace kernelsmith::http
