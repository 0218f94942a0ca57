#include "toolchain/usual_headers.hpp"

#include <algorithm>
#include <utility>

namespace kernelsmith::cpu {
namespace {

/// Headers that take the compiler 10 ms or more. Their order does not matter.
constexpr std::string_view kCostly =
    " algorithm array atomic barrier bit bitset chrono cmath complex concepts condition_variable cstdlib "
    "functional future immintrin.h iostream iterator latch limits map memory mutex new numbers numeric "
    "random "
    "ranges span stdexcept string thread tuple type_traits unordered_map utility valarray vector "
    "x86intrin.h ";
/// Cheap headers that may appear among the costly ones.
constexpr std::string_view kCheap =
    " cassert cerrno cfenv cfloat climits cstddef cstdint cstdio cstring ctime initializer_list ";

bool is_among(std::string_view names, std::string_view name) {
  return name.find(' ') == name.npos && names.find(" " + std::string(name) + " ") != names.npos;
}

/// Reads a text from its beginning.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  /// Skips the text between directives. False if a comment does not end, or hides its end after a backslash.
  bool pass_blanks() {
    while (!rest_.empty()) {
      if (rest_.starts_with("//")) {
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        if (rest_.substr(0, end).find('\\') != rest_.npos) return false;
        rest_.remove_prefix(end);
      } else if (rest_.starts_with("/*")) {
        const std::size_t end = rest_.find("*/", 2);
        if (end == rest_.npos || rest_.substr(0, end).find('\\') != rest_.npos) return false;
        rest_.remove_prefix(end + 2);
      } else if (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r' ||
                 rest_.front() == '\n') {
        line_begins_ = line_begins_ || rest_.front() == '\n';
        rest_.remove_prefix(1);
      } else {
        break;
      }
    }
    return true;
  }

  /// The header of the next include, with its brackets or quotes; empty if the next text is not an include.
  std::string_view take_include() {
    if (!std::exchange(line_begins_, false) || !take("#")) return {};
    skip_spaces();
    if (!take("include")) return {};
    skip_spaces();
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view name = rest_.substr(0, end);
    while (!name.empty() && (name.back() == ' ' || name.back() == '\t' || name.back() == '\r'))
      name.remove_suffix(1);
    // A comment after the name is skipped later, with the blanks.
    const std::size_t close = name.size() < 2 ? name.npos : name.find(name.front() == '<' ? '>' : '"', 1);
    if (close == name.npos) return {};
    const std::string_view behind = name.substr(close + 1);
    const std::size_t first = behind.find_first_not_of(" \t");
    if (first != behind.npos && !behind.substr(first).starts_with("/")) return {};
    name = name.substr(0, close + 1);
    rest_.remove_prefix(close + 1);
    return name;
  }

 private:
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  std::string_view rest_;
  bool line_begins_ = true;
};

}  // namespace

std::vector<std::string> leading_usual_headers(std::string_view text) {
  std::vector<std::string> found;
  Reader reader(text);
  while (reader.pass_blanks()) {
    const std::string_view include = reader.take_include();
    if (include == "\"task.hpp\"") continue;
    if (!include.starts_with('<')) break;
    const std::string_view name = include.substr(1, include.size() - 2);
    if (is_among(kCostly, name)) {
      found.emplace_back(name);
    } else if (!is_among(kCheap, name)) {
      break;
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace kernelsmith::cpu
