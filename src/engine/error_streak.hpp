// When Errors end a session: a few in a row with one code say that the machine is broken, not unlucky.
#pragma once

#include <kernelsmith/core/error.hpp>

namespace kernelsmith {

class ErrorStreak {
 public:
  explicit ErrorStreak(unsigned limit) : limit_(limit) {}

  void success() {
    same_ = any_ = 0;
    answered_ = true;
  }

  /// True if the session should end. A model's `bad_reply` was asked for in every form before.
  bool failure(ErrorCode code, bool is_models = false) {
    same_ = any_ > 0 && code == code_ ? same_ + 1 : 1;
    ++any_;
    code_ = code;
    if (!answered_ && (is_lasting(code) || (is_models && code == ErrorCode::bad_reply))) return true;
    return same_ >= limit_ || any_ >= kAnyCode * limit_;
  }

  /// Asking again gets the same error until somebody changes the settings. Behind an answer it may be a
  /// server's passing fault all the same.
  static bool is_lasting(ErrorCode code) {
    return code == ErrorCode::permission || code == ErrorCode::not_found || code == ErrorCode::untrusted ||
           code == ErrorCode::invalid_argument || code == ErrorCode::unsupported;
  }

 private:
  /// Codes that alternate without a success between them end a session too, only later.
  static constexpr unsigned kAnyCode = 4;

  unsigned limit_;
  bool answered_ = false;
  unsigned same_ = 0;
  unsigned any_ = 0;
  ErrorCode code_ = ErrorCode::internal;
};

}  // namespace kernelsmith
