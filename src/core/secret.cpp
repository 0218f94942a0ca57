#include <algorithm>
#include <cstdlib>

#include <openssl/crypto.h>

#include <kernelsmith/core/secret.hpp>

namespace kernelsmith {
namespace {

/// Placeholder keys such as "EMPTY" or "not-needed", which are used for local servers, also occur in normal
/// text.
constexpr std::size_t kShortest = 8, kLongestWord = 19;
/// A key of this length or more does not occur in normal text by chance, even if letter case is ignored.
constexpr std::size_t kShortestDisguised = 16;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

/// A key has only such bytes: see check_endpoint().
bool is_graphic(char c) { return c > 0x20 && c < 0x7F; }

bool is_variable_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, fits);
}

bool is_placeholder(std::string_view key) {
  const bool has_digit = std::ranges::any_of(key, [](char c) { return c >= '0' && c <= '9'; });
  return key.size() < kShortest || (key.size() <= kLongestWord && !has_digit);
}

}  // namespace

Secret& Secret::operator=(const Secret& other) {
  if (this != &other) {
    wipe();
    value_ = other.value_;
  }
  return *this;
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe();
    value_ = std::move(other.value_);
    other.wipe();
  }
  return *this;
}

void Secret::wipe() noexcept {
  OPENSSL_cleanse(value_.data(), value_.size());
  value_.clear();
}

bool Secret::stands_in(std::string_view text) const {
  if (is_placeholder(value_)) return false;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (length_at(text, at) > 0) return true;
  return false;
}

std::string Secret::redact(std::string text) const {
  if (is_placeholder(value_)) return text;
  std::string clean;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t length = length_at(text, at);
    if (length == 0) continue;
    clean.append(text, copied, at - copied).append("[key]");
    copied = at + length;
    at = copied - 1;
  }
  if (copied == 0) return text;
  return clean.append(text, copied);
}

std::size_t Secret::length_at(std::string_view text, std::size_t at) const {
  const bool disguised = value_.size() >= kShortestDisguised;
  const auto same = [&](char a, char b) { return a == b || (disguised && lower(a) == lower(b)); };
  std::size_t next = at;
  for (std::size_t i = 0; i < value_.size(); ++i, ++next) {
    while (disguised && i > 0 && next < text.size() && !is_graphic(text[next])) ++next;
    if (next >= text.size() || !same(text[next], value_[i])) return 0;
  }
  return next - at;
}

Result<Secret> expand_variables(std::string_view text) {
  std::string expanded;
  while (!text.empty()) {
    const std::size_t begin = text.find("${");
    expanded += text.substr(0, begin);
    if (begin == text.npos) break;
    const std::size_t end = text.find('}', begin);
    if (end == text.npos)
      return fail(ErrorCode::bad_input, "a ${ without its }", "",
                  "write ${NAME} for an environment variable");
    const std::string name(text.substr(begin + 2, end - begin - 2));
    // Not quoted, because it may be the key itself.
    if (!is_variable_name(name))
      return fail(ErrorCode::bad_input, "the text in ${} is not the name of an environment variable", "",
                  "write ${NAME}, and give the key as that variable's value");
    const char* value = std::getenv(name.c_str());
    if (!value || !*value)
      return fail(ErrorCode::not_found, "the environment variable " + name + " is not set", "",
                  "export " + name + "=... and run this again");
    expanded += value;
    text.remove_prefix(end + 1);
  }
  return Secret(std::move(expanded));
}

}  // namespace kernelsmith
