#include <charconv>
#include <string>
#include <vector>

#include <kernelsmith/code/expression.hpp>
#include <kernelsmith/core/nearest_name.hpp>

namespace kernelsmith {
namespace {

constexpr int kMaxDepth = 64;

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Recursive descent over: sum = product {(+|-) product}; product = unary {(*|/|%) unary};
/// unary = - unary | number | name | ( sum ). In a condition, parentheses hold an either:
/// either = both {or both}; both = opposite {and opposite}; opposite = not opposite | sum [comparison sum].
class Parser {
 public:
  Parser(std::string_view text, const Sizes& sizes, bool condition)
      : text_(text), sizes_(sizes), condition_(condition) {}

  Result<std::int64_t> parse() {
    auto value = whole(0);
    if (value && !at_end()) return broken("expected an operator");
    return value;
  }

 private:
  Result<std::int64_t> whole(int depth) { return condition_ ? either(depth) : sum(depth); }

  Result<std::int64_t> either(int depth) {
    auto left = both(depth);
    while (left && (take("||") || take("or"))) {
      auto right = unless(*left != 0, &Parser::both, depth);
      if (!right) return right;
      left = std::int64_t{*left != 0 || *right != 0};
    }
    return left;
  }

  Result<std::int64_t> both(int depth) {
    auto left = opposite(depth);
    while (left && (take("&&") || take("and"))) {
      auto right = unless(*left == 0, &Parser::opposite, depth);
      if (!right) return right;
      left = std::int64_t{*left != 0 && *right != 0};
    }
    return left;
  }

  /// Parses a side that has no effect if `decided`: then it may divide by zero.
  Result<std::int64_t> unless(bool decided, Result<std::int64_t> (Parser::*side)(int), int depth) {
    idle_ += decided ? 1 : 0;
    auto value = (this->*side)(depth);
    idle_ -= decided ? 1 : 0;
    return value;
  }

  Result<std::int64_t> opposite(int depth) {
    if (depth > kMaxDepth) return broken("nested too deeply");
    if (take("not") || take("!")) {
      const auto value = opposite(depth + 1);
      return value ? Result<std::int64_t>{*value == 0} : value;
    }
    auto left = sum(depth);
    if (!left) return left;
    for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!take(sign)) continue;
      const auto right = sum(depth);
      return right ? Result<std::int64_t>{compare(sign, *left, *right)} : right;
    }
    return left;
  }

  static bool compare(std::string_view sign, std::int64_t left, std::int64_t right) {
    if (sign == "==") return left == right;
    if (sign == "!=") return left != right;
    if (sign == "<=") return left <= right;
    if (sign == ">=") return left >= right;
    return sign == "<" ? left < right : left > right;
  }

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
      auto value = whole(depth + 1);
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
    return fail(
        ErrorCode::bad_input,
        (condition_ ? "unknown name '" : "unknown size '") + name + "' in '" + std::string(text_) + "'", {},
        name_hint(name, known));
  }

  Result<std::int64_t> apply(char op, std::int64_t left, std::int64_t right) {
    if (idle_ > 0) return 0;
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
  /// Takes a sign or a whole word, if it is next.
  bool take(std::string_view token) {
    peek();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(token)) return false;
    const char next = rest.size() > token.size() ? rest[token.size()] : ' ';
    if (token == "!" && next == '=') return false;
    if (is_name_start(token.front()) && (is_name_start(next) || is_digit(next))) return false;
    at_ += token.size();
    return true;
  }
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
  const bool condition_;
  int idle_ = 0;  ///< how many sides that have no effect surround the place
  std::size_t at_ = 0;
};

}  // namespace

Result<std::int64_t> evaluate_expression(std::string_view text, const Sizes& sizes) {
  return Parser(text, sizes, false).parse();
}

Result<bool> evaluate_condition(std::string_view text, const Sizes& names) {
  const auto value = Parser(text, names, true).parse();
  if (!value) return value.error();
  return *value != 0;
}

}  // namespace kernelsmith
