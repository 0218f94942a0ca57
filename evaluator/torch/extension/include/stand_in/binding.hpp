// pybind11 for modules of functions: PYBIND11_MODULE, def, arg. A function's parameters and result must be of
// the kinds that Input and give() support; another kind is an error that names its type.
#pragma once

#include "stand_in/operators.hpp"

namespace kernelsmith::extension {

// ---- Parameters. `spell` adds the letters that tell Python how to convert an argument before the call.

template <class T, class = void>
struct Input;

#define KERNELSMITH_INPUT(TYPE, LETTERS, EXPRESSION)            \
  template <>                                                   \
  struct Input<TYPE> {                                          \
    static void spell(Text& to) { to.add(LETTERS); }            \
    static TYPE take(const Value& value) { return EXPRESSION; } \
  };

inline at::Tensor share(const Value& value) {
  if (value.kind != kTensor) return {};
  auto* const facts = static_cast<Facts*>(value.tensor);
  kernelsmith_tensor_retain(facts);
  return at::Tensor(facts);
}
inline c10::Scalar scalar_of(const Value& value) {
  return value.kind == kDouble ? c10::Scalar(value.real) : c10::Scalar(value.integer);
}
KERNELSMITH_INPUT(at::Tensor, "T", share(value))
KERNELSMITH_INPUT(bool, "b", value.integer != 0)
KERNELSMITH_INPUT(const char*, "s", value.text)
KERNELSMITH_INPUT(c10::Scalar, "n", scalar_of(value))
KERNELSMITH_INPUT(c10::ScalarType, "y", static_cast<c10::ScalarType>(value.integer))
KERNELSMITH_INPUT(c10::Device, "d", c10::Device(static_cast<c10::DeviceType>(value.integer)))
KERNELSMITH_INPUT(c10::MemoryFormat, "m", static_cast<c10::MemoryFormat>(value.integer))
KERNELSMITH_INPUT(c10::IntArrayRef, "I",
                  c10::IntArrayRef(value.integers, static_cast<std::size_t>(value.count)))

template <class T>
struct Input<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static void spell(Text& to) { to.add("f"); }
  static T take(const Value& value) { return static_cast<T>(value.real); }
};
/// An integer is spelled with its size, because numbers out of its range are invalid arguments.
template <class T>
struct Input<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static void spell(Text& to) {
    to.add(std::is_signed_v<T> ? "i" : "u");
    to.add(static_cast<int>(sizeof(T)));
  }
  static T take(const Value& value) { return static_cast<T>(value.integer); }
};
/// std::string, without its header.
template <class T>
struct Input<T, std::enable_if_t<std::is_same_v<decltype(std::declval<T&>().append("")), T&>>> {
  static void spell(Text& to) { to.add("s"); }
  static T take(const Value& value) { return T(value.text); }
};
template <class T>
struct Input<std::optional<T>> {
  static void spell(Text& to) {
    to.add("?");
    Input<T>::spell(to);
  }
  static std::optional<T> take(const Value& value) {
    return value.kind == kNone ? std::optional<T>() : Input<T>::take(value);
  }
};
template <class T>
struct Input<std::vector<T>> {
  static void spell(Text& to) {
    to.add("[");
    Input<T>::spell(to);
  }
  static std::vector<T> take(const Value& value) {
    std::vector<T> taken;
    for (int i = 0; i < value.count; ++i) taken.push_back(Input<T>::take(value.values[i]));
    return taken;
  }
};

// ---- Results.

inline void give(Value& to, at::Tensor tensor) {
  to.kind = tensor.defined() ? kTensor : kNone;
  to.tensor = tensor.release_facts();
}
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
void give(Value& to, T number) {
  to = Argument(number).value();
}
inline void give(Value& to, const char* text) { kernelsmith_make_text(&to, text); }
template <class Text, class = decltype(std::declval<const Text&>().c_str())>
void give(Value& to, const Text& text) {
  kernelsmith_make_text(&to, text.c_str());
}
template <class T>
void give(Value& to, const std::optional<T>& maybe) {
  if (maybe) give(to, *maybe);
}
template <class T>
void give(Value& to, const std::vector<T>& many) {
  kernelsmith_make_list(&to, static_cast<int>(many.size()));
  for (std::size_t i = 0; i < many.size(); ++i) give(to.values[i], static_cast<T>(many[i]));
}
template <class... T>
void give(Value& to, const std::tuple<T...>& many) {
  kernelsmith_make_list(&to, sizeof...(T));
  to.kind = kTuple;
  int i = 0;
  std::apply([&](const auto&... each) { (give(to.values[i++], each), ...); }, many);
}
template <class A, class B>
void give(Value& to, const std::pair<A, B>& two) {
  give(to, std::tuple<A, B>(two));
}

// ---- Functions.

template <class Pointer>
struct Bound;
template <class Result, class... Parameters>
struct Bound<Result (*)(Parameters...)> {
  static Text signature() {
    Text text;
    ((Input<std::decay_t<Parameters>>::spell(text), text.add(",")), ...);
    return text;
  }
  template <std::size_t... I>
  static void call(void* function, const Value* arguments, Value* result, std::index_sequence<I...>) {
    auto* const typed = reinterpret_cast<Result (*)(Parameters...)>(function);
    std::tuple<std::decay_t<Parameters>...> taken{Input<std::decay_t<Parameters>>::take(arguments[I])...};
    static_cast<void>(taken);
    if constexpr (std::is_void_v<Result>)
      typed(static_cast<Parameters>(std::get<I>(taken))...);
    else
      give(*result, typed(static_cast<Parameters>(std::get<I>(taken))...));
  }
  static void thunk(void* function, const Value* arguments, Value* result) {
    call(function, arguments, result, std::index_sequence_for<Parameters...>());
  }
};

}  // namespace kernelsmith::extension

namespace pybind11 {

struct none {};
struct gil_scoped_release {};
struct gil_scoped_acquire {};
template <class...>
struct call_guard {};

/// A parameter's name, and its default.
struct arg {
  explicit arg(const char* given) : name(given) { value.kind = kernelsmith::extension::kMissing; }
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }
  template <class T>
  arg operator=(const T& given) const {
    arg with(*this);
    with.value = {};
    if constexpr (std::is_arithmetic_v<T>) kernelsmith::extension::give(with.value, given);
    if constexpr (std::is_convertible_v<const T&, const char*>) kernelsmith_make_text(&with.value, given);
    return with;
  }
  const char* name;
  kernelsmith::extension::Value value{};
};

/// `m.attr("name") = value`
struct attribute {
  const char* name;
  template <class T>
  void operator=(const T& given) const {
    kernelsmith::extension::Value value{};
    kernelsmith::extension::give(value, given);
    kernelsmith_define(name, nullptr, nullptr, kernelsmith::extension::kAttribute, ",", &value);
  }
};
using int_ = std::int64_t;
using float_ = double;
using bool_ = bool;
using str = const char*;
template <class T>
const T& cast(const T& value) {
  return value;
}

class module_ {
 public:
  attribute attr(const char* name) { return {name}; }
  template <class Function, class... Extra>
  module_& def(const char* name, Function function, const Extra&... extra) {
    const auto pointer = +function;  // also turns a lambda into a pointer
    using Bound = kernelsmith::extension::Bound<std::decay_t<decltype(pointer)>>;
    kernelsmith::extension::Text names;
    std::vector<kernelsmith::extension::Value> defaults;
    (note(names, defaults, extra), ...);
    kernelsmith_define(name, reinterpret_cast<void*>(pointer), &Bound::thunk, Bound::signature().c_str(),
                       names.c_str(), defaults.data());
    return *this;
  }
  const char*& doc() { return doc_; }

 private:
  template <class Extra>
  static void note(kernelsmith::extension::Text& names, std::vector<kernelsmith::extension::Value>& defaults,
                   const Extra& extra) {
    if constexpr (std::is_same_v<Extra, arg>) {
      names.add(extra.name);
      names.add(",");
      defaults.push_back(extra.value);
    }
  }
  const char* doc_ = "";
};
using module = module_;

namespace literals {
inline arg operator""_a(const char* name, std::size_t) { return arg(name); }
}  // namespace literals

}  // namespace pybind11
namespace py = pybind11;

/// Python looks up the module by the extension's name, like PyInit_NAME of a real one.
#define KERNELSMITH_MODULE(NAME, VARIABLE)                                                 \
  static void kernelsmith_module_##NAME(pybind11::module_& VARIABLE);                      \
  extern "C" __attribute__((visibility("default"))) void kernelsmith_initialise_##NAME() { \
    pybind11::module_ made;                                                                \
    kernelsmith_module_##NAME(made);                                                       \
  }                                                                                        \
  static void kernelsmith_module_##NAME(pybind11::module_& VARIABLE)
#define PYBIND11_MODULE(NAME, VARIABLE, ...) KERNELSMITH_MODULE(NAME, VARIABLE)
