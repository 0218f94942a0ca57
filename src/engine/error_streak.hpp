// Decides when Errors end a session: a few in a row with the same code mean that the machine is broken.
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

  /// Returns true if the session should end. Before any success, a model's `bad_reply` ends it at once,
  /// because every form of reply was already tried.
  bool failure(ErrorCode code, bool is_models = false) {
    same_ = any_ > 0 && code == code_ ? same_ + 1 : 1;
    ++any_;
    code_ = code;
    if (!answered_ && (is_lasting(code) || (is_models && code == ErrorCode::bad_reply))) return true;
    return same_ >= limit_ || any_ >= kAnyCode * limit_;
  }

  /// Whether a retry would get the same error until the settings change. After a successful answer, even such
  /// an error may be a server's temporary fault.
  static bool is_lasting(ErrorCode code) {
    return code == ErrorCode::permission || code == ErrorCode::not_found || code == ErrorCode::untrusted ||
           code == ErrorCode::invalid_argument || code == ErrorCode::unsupported;
  }

 private:
  /// Errors with different codes, without a success in between, also end a session, but later.
  static constexpr unsigned kAnyCode = 4;

  unsigned limit_;
  bool answered_ = false;
  unsigned same_ = 0;
  unsigned any_ = 0;
  ErrorCode code_ = ErrorCode::internal;
};

}  // namespace kernelsmith
