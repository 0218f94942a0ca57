#include <charconv>
#include <string>
#include <vector>

#include <kernelsmith/config/nearest_name.hpp>
#include <kernelsmith/evaluator/expression.hpp>

namespace kernelsmith {
namespace {

constexpr int kMaxDepth = 64;

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Recursive descent over: sum = product {(+|-) product}; product = unary {(*|/|%) unary};
/// unary = - unary | number | name | ( sum ).
class Parser {
 public:
  Parser(std::string_view text, const Sizes& sizes) : text_(text), sizes_(sizes) {}

  Result<std::int64_t> parse() {
    auto value = sum(0);
    if (value && !at_end()) return broken("expected an operator");
    return value;
  }

 private:
  Result<std::int64_t> sum(int depth) {
    auto left = product(depth);
    while (left && (peek() == '+' || peek() == '-')) {
      const char op = take();
      auto right = product(depth);
      if (!right) return right;
      left = apply(op, *left, *right);
    }
    return left;
  }

  Result<std::int64_t> product(int depth) {
    auto left = unary(depth);
    while (left && (peek() == '*' || peek() == '/' || peek() == '%')) {
      const char op = take();
      auto right = unary(depth);
      if (!right) return right;
      left = apply(op, *left, *right);
    }
    return left;
  }

  Result<std::int64_t> unary(int depth) {
    if (depth > kMaxDepth) return broken("nested too deeply");
    const char next = peek();
    if (next == '-') {
      take();
      const auto value = unary(depth + 1);
      return value ? apply('-', 0, *value) : value;
    }
    if (next == '(') {
      take();
      auto value = sum(depth + 1);
      if (!value) return value;
      if (peek() != ')') return broken("expected )");
      take();
      return value;
    }
    if (is_digit(next)) return number();
    if (is_name_start(next)) return name();
    return broken("expected a number, a size or (");
  }

  Result<std::int64_t> number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) return broken("a number too large");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  Result<std::int64_t> name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_name_start(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (const auto found = sizes_.find(name); found != sizes_.end()) return found->second;
    std::vector<std::string_view> known;
    for (const auto& size : sizes_) known.push_back(size.first);
    return fail(ErrorCode::bad_input, "unknown size '" + name + "' in '" + std::string(text_) + "'", {},
                name_hint(name, known));
  }

  Result<std::int64_t> apply(char op, std::int64_t left, std::int64_t right) {
    std::int64_t value = 0;
    bool overflow = false;
    switch (op) {
      case '+':
        overflow = __builtin_add_overflow(left, right, &value);
        break;
      case '-':
        overflow = __builtin_sub_overflow(left, right, &value);
        break;
      case '*':
        overflow = __builtin_mul_overflow(left, right, &value);
        break;
      default:
        if (right == 0) return broken("division by zero");
        if (right == -1) return op == '%' ? Result<std::int64_t>{0} : apply('-', 0, left);
        value = op == '/' ? left / right : left % right;
    }
    if (overflow) return broken("the value does not fit into 64 bits");
    return value;
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  char take() { return text_[at_++]; }
  bool at_end() {
    peek();
    return at_ == text_.size();
  }

  Error broken(std::string_view what) const {
    return fail(ErrorCode::bad_input, std::string(what) + " at column " + std::to_string(at_ + 1) + " of '" +
                                          std::string(text_) + "'");
  }

  std::string_view text_;
  const Sizes& sizes_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::int64_t> evaluate_expression(std::string_view text, const Sizes& sizes) {
  return Parser(text, sizes).parse();
}

}  // namespace kernelsmith
