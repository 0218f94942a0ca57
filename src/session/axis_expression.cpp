#include "axis_expression.hpp"

#include <algorithm>
#include <cmath>

#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith::arena {
namespace {

constexpr int kDeepest = 64;  // each level is a few calls on the stack

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Recursive descent. The first error stays, and everything after it is skipped.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, const Axes& axes) : left_(text), axes_(axes) {}

  Result<std::int64_t> value() {
    const double value = sum();
    skip_blanks();
    if (!left_.empty()) refuse("'" + std::string(left_.substr(0, 20)) + "' is not expected here");
    if (wrong_.empty() &&
        !(value >= 0 && value <= static_cast<double>(kMostExtent) && value == std::floor(value)))
      refuse("its value is " + number_text(value) + ", not a whole number from 0");
    if (!wrong_.empty()) return fail(ErrorCode::bad_input, wrong_);
    return static_cast<std::int64_t>(value);
  }

 private:
  double sum() {
    double value = product();
    while (true) {
      if (take("+")) {
        value = exact(value + product());
      } else if (take("-")) {
        value = exact(value - product());
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = signed_value();
    while (true) {
      if (take("//")) {
        value = std::floor(divided(value, signed_value()));
      } else if (take("/")) {
        value = divided(value, signed_value());
      } else if (take("%")) {
        const double by = signed_value();
        value -= by * std::floor(divided(value, by));
      } else if (!left_.starts_with("**") && take("*")) {
        value = exact(value * signed_value());
      } else {
        return value;
      }
    }
  }

  /// Refuses what a double cannot hold exactly, because Python's whole numbers have no limit.
  double exact(double value) {
    if (std::abs(value) <= static_cast<double>(kMostExtent)) return value;
    return refuse("a number in it is too large");
  }

  double divided(double value, double by) {
    if (by != 0) return value / by;
    refuse("it divides by zero");
    return 0;
  }

  double signed_value() {
    if (depth_ >= kDeepest) refuse("it is nested too deeply");
    if (!wrong_.empty()) return 0;
    ++depth_;
    const double value = take("-") ? -signed_value() : take("+") ? signed_value() : power();
    --depth_;
    return value;
  }

  /// Binds tighter than a sign before it, and not as tight as one in the exponent.
  double power() {
    const double base = single();
    return take("**") ? exact(std::pow(base, signed_value())) : base;
  }

  double single() {
    skip_blanks();
    if (take("(")) {
      const double value = sum();
      if (!take(")")) refuse("a ) is missing");
      return value;
    }
    std::size_t end = 0;
    while (end < left_.size() && (is_letter(left_[end]) || is_digit(left_[end]) || left_[end] == '.')) ++end;
    const std::string_view word = left_.substr(0, end);
    left_.remove_prefix(end);
    if (word.empty()) return refuse(left_.empty() ? "it ends too early" : "a number or an axis is missing");
    if (!is_letter(word.front())) {
      const auto number = number_in<double>(word);
      return number ? *number : refuse("'" + std::string(word) + "' is not a number");
    }
    const auto found = axes_.find(word);
    if (found == axes_.end()) return refuse("there is no axis '" + std::string(word) + "' before it");
    return static_cast<double>(found->second);
  }

  void skip_blanks() { left_.remove_prefix(std::min(left_.find_first_not_of(" \t"), left_.size())); }

  bool take(std::string_view symbol) {
    skip_blanks();
    if (!wrong_.empty() || !left_.starts_with(symbol)) return false;
    left_.remove_prefix(symbol.size());
    return true;
  }

  double refuse(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
    return 0;
  }

  std::string_view left_;
  const Axes& axes_;
  std::string wrong_;
  int depth_ = 0;
};

}  // namespace

Result<std::int64_t> extent_of(std::string_view expression, const Axes& axes) {
  return Arithmetic(expression, axes).value();
}

}  // namespace kernelsmith::arena
