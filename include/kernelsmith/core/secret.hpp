// Secret: a key that is passed on and never printed.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// A key, a token or a password. No operator prints or serialises it, and the destructor wipes its memory. A
/// value; safe to read from several threads.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : value_(std::move(other.value_)) { other.wipe(); }
  Secret& operator=(const Secret& other);
  Secret& operator=(Secret&& other) noexcept;
  ~Secret() { wipe(); }

  bool empty() const { return value_.empty(); }

  /// The key itself. Use it only for the header of a request.
  std::string_view reveal() const { return value_; }

  /// `text` with every occurrence of the key replaced by "[key]": servers often quote it in their errors. A
  /// key of 16 bytes or more is also found if its case differs or if blanks, control characters or non-ASCII
  /// bytes were inserted. A key is not replaced if it has less than 8 bytes, or less than 20 bytes and no
  /// digit: it is then a placeholder for a server that needs no key. Call this before a text is cut or
  /// rewritten.
  std::string redact(std::string text) const;

  /// Whether redact() would change the text.
  bool stands_in(std::string_view text) const;

 private:
  /// The length of the key if it begins at `at`, else 0.
  std::size_t length_at(std::string_view text, std::size_t at) const;
  void wipe() noexcept;

  std::string value_;
};

/// `text` with each `${NAME}` replaced by that environment variable. Errors: `not_found` for a variable that
/// is not set, `bad_input` for an unclosed brace or an invalid name. Call it before threads change the
/// environment.
Result<Secret> expand_variables(std::string_view text);

}  // namespace kernelsmith
