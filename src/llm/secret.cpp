#include <cstdlib>

#include <openssl/crypto.h>

#include <kernelsmith/llm/secret.hpp>

namespace kernelsmith {

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

std::string Secret::redact(std::string text) const {
  if (value_.empty()) return text;
  for (std::size_t at = text.find(value_); at != text.npos; at = text.find(value_, at)) {
    text.replace(at, value_.size(), "[key]");
    at += 5;
  }
  return text;
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
