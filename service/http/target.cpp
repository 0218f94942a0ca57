#include "target.hpp"

#include <algorithm>

#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith::http {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Returns the text before the first `mark`; `rest` becomes the text after it.
std::string_view cut(std::string_view& rest, char mark) {
  const std::size_t end = std::min(rest.find(mark), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

bool read_query(std::string_view text, std::map<std::string, std::string>& query) {
  while (!text.empty()) {
    std::string_view value = cut(text, '&');
    if (value.empty()) continue;
    const std::string_view name = cut(value, '=');
    auto decoded_name = percent_decoded(name, true), decoded = percent_decoded(value, true);
    if (!decoded_name || !decoded) return false;
    query.insert_or_assign(std::move(*decoded_name), std::move(*decoded));
  }
  return true;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const auto byte = number_in<unsigned char>(text.substr(i + 1, 2), 16);
      if (!byte || text.size() - i < 3) return std::nullopt;
      c = static_cast<char>(*byte);
      i += 2;
    } else if (c == '+' && plus_is_blank) {
      c = ' ';
    }
    if (is_control(c)) return std::nullopt;
    decoded += c;
  }
  return decoded;
}

std::optional<Target> parse_target(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  if (text.starts_with(kScheme)) {
    text.remove_prefix(kScheme.size());
    text.remove_prefix(std::min(text.find_first_of("/?"), text.size()));
    if (text.empty()) text = "/";
  }
  if (!text.starts_with('/')) return std::nullopt;
  std::string_view query = text;
  std::string_view path = cut(query, '?');
  Target target;
  target.path = path;
  if (!read_query(query, target.query)) return std::nullopt;
  path.remove_prefix(1);
  for (bool more = !path.empty(); more;) {
    more = path.find('/') != path.npos;
    auto segment = percent_decoded(cut(path, '/'));
    if (!segment) return std::nullopt;
    target.segments.push_back(std::move(*segment));
  }
  return target;
}

}  // namespace kernelsmith::http
