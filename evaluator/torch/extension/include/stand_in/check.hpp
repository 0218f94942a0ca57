// c10::Error, c10::str and the macros that throw.
#pragma once

#include "stand_in/types.hpp"

namespace c10 {

/// The text is a member, because std::string is not always included.
struct Error : std::exception {
  explicit Error(const char* text) noexcept {
    std::strncpy(text_, text, sizeof text_ - 1);
    text_[sizeof text_ - 1] = '\0';
  }
  const char* what() const noexcept override { return text_; }
  const char* what_without_backtrace() const noexcept { return text_; }
  const char* msg() const noexcept { return text_; }

 private:
  char text_[2000];
};
using IndexError = Error;
using NotImplementedError = Error;
using TypeError = Error;
using ValueError = Error;

}  // namespace c10

namespace kernelsmith::extension {

/// A text of bounded length from the arguments of TORCH_CHECK.
class Text {
 public:
  const char* c_str() const { return text_; }
  template <class Stringlike, class = decltype(std::declval<Stringlike>().append(""))>
  operator Stringlike() const {
    return Stringlike(text_);
  }

  void add(const char* text) {
    while (*text != '\0' && size_ + 1 < sizeof text_) text_[size_++] = *text++;
    text_[size_] = '\0';
  }
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      number("%d", int{value});
    } else if constexpr (std::is_same_v<T, char>) {
      number("%c", value);
    } else if constexpr (std::is_floating_point_v<T>) {
      number("%g", static_cast<double>(value));
    } else if constexpr (std::is_same_v<T, c10::ScalarType> || std::is_same_v<T, c10::TypeMeta>) {
      add(c10::toString(value));
    } else if constexpr (std::is_same_v<T, c10::DeviceType>) {
      add(value == c10::kCUDA ? "cuda" : "cpu");
    } else if constexpr (std::is_same_v<T, c10::Device>) {
      add(value.str());
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      number("%lld", static_cast<long long>(value));
    } else if constexpr (std::is_convertible_v<const T&, const char*>) {
      add(static_cast<const char*>(value));
    } else if constexpr (std::is_convertible_v<const T&, c10::IntArrayRef>) {
      list(value);
    } else {
      other(value, 0);
    }
  }

 private:
  template <class T>
  void number(const char* format, T value) {
    char digits[48];
    std::snprintf(digits, sizeof digits, format, value);
    add(static_cast<const char*>(digits));
  }
  void list(c10::IntArrayRef numbers) {
    add("[");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0) add(", ");
      number("%lld", static_cast<long long>(numbers[i]));
    }
    add("]");
  }
  template <class T>
  auto other(const T& value, int) -> decltype(value.c_str(), void()) {
    add(static_cast<const char*>(value.c_str()));
  }
  template <class T>
  void other(const T&, long) {
    add("...");
  }

  char text_[2000] = "";
  std::size_t size_ = 0;
};

/// What c10::str gives is a std::string there.
template <class Stringlike, class = decltype(std::declval<Stringlike&>().append(""))>
Stringlike operator+(Stringlike text, const Text& more) {
  text.append(more.c_str());
  return text;
}
template <class Stringlike, class = decltype(std::declval<Stringlike&>().append(""))>
Stringlike operator+(const Text& text, const Stringlike& more) {
  return Stringlike(text.c_str()).append(more);
}

template <class... Parts>
Text text_of(const Parts&... parts) {
  Text text;
  (text.add(parts), ...);
  return text;
}

[[noreturn]] void fail(const char* text);  ///< throws c10::Error

}  // namespace kernelsmith::extension

namespace c10 {
template <class... Parts>
auto str(const Parts&... parts) {
  return kernelsmith::extension::text_of(parts...);
}

/// Prints sizes, types and devices to std::cout.
template <class Stream, class T,
          class = std::enable_if_t<std::is_same_v<T, IntArrayRef> || std::is_same_v<T, ScalarType> ||
                                   std::is_same_v<T, TypeMeta> || std::is_same_v<T, Device>>>
auto operator<<(Stream& to, const T& value) -> decltype(to << "") {
  return to << kernelsmith::extension::text_of(value).c_str();
}
}  // namespace c10

#define TORCH_CHECK(CONDITION, ...)                                                 \
  do {                                                                              \
    if (!(CONDITION)) {                                                             \
      auto kernelsmith_text = kernelsmith::extension::text_of(__VA_ARGS__);         \
      if (*kernelsmith_text.c_str() == '\0')                                        \
        kernelsmith_text.add("Expected " #CONDITION " to be true, but got false."); \
      kernelsmith::extension::fail(kernelsmith_text.c_str());                       \
    }                                                                               \
  } while (0)
#define TORCH_CHECK_BINARY(A, OP, B, ...) TORCH_CHECK((A)OP(B), ##__VA_ARGS__)
#define TORCH_CHECK_EQ(A, B, ...) TORCH_CHECK_BINARY(A, ==, B, ##__VA_ARGS__)
#define TORCH_CHECK_NE(A, B, ...) TORCH_CHECK_BINARY(A, !=, B, ##__VA_ARGS__)
#define TORCH_CHECK_LT(A, B, ...) TORCH_CHECK_BINARY(A, <, B, ##__VA_ARGS__)
#define TORCH_CHECK_LE(A, B, ...) TORCH_CHECK_BINARY(A, <=, B, ##__VA_ARGS__)
#define TORCH_CHECK_GT(A, B, ...) TORCH_CHECK_BINARY(A, >, B, ##__VA_ARGS__)
#define TORCH_CHECK_GE(A, B, ...) TORCH_CHECK_BINARY(A, >=, B, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE TORCH_CHECK
#define TORCH_CHECK_INDEX TORCH_CHECK
#define TORCH_CHECK_TYPE TORCH_CHECK
#define TORCH_CHECK_NOT_IMPLEMENTED TORCH_CHECK
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ERROR(...) kernelsmith::extension::fail(kernelsmith::extension::text_of(__VA_ARGS__).c_str())
#define TORCH_WARN(...) static_cast<void>(0)
#define TORCH_WARN_ONCE(...) static_cast<void>(0)
#define C10_CUDA_CHECK(EXPRESSION)                                                                        \
  do {                                                                                                    \
    const cudaError_t kernelsmith_error = (EXPRESSION);                                                   \
    TORCH_CHECK(kernelsmith_error == cudaSuccess, "CUDA error: ", cudaGetErrorString(kernelsmith_error)); \
  } while (0)
#define C10_CUDA_CHECK_WARN C10_CUDA_CHECK
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_CUDA_CHECK C10_CUDA_CHECK
