// AT_DISPATCH_*: a switch over the element type in which scalar_t is the C++ type.
#pragma once

#include "stand_in/operators.hpp"

namespace kernelsmith::extension {
inline c10::ScalarType type_of(c10::ScalarType type) { return type; }
inline c10::ScalarType type_of(c10::TypeMeta type) { return type.type; }
inline c10::ScalarType type_of(const at::DeprecatedTypeProperties& type) { return type.type; }
}  // namespace kernelsmith::extension

#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                        \
  [&] {                                                                            \
    const at::ScalarType kernelsmith_type = kernelsmith::extension::type_of(TYPE); \
    switch (kernelsmith_type) {                                                    \
      __VA_ARGS__                                                                  \
      default:                                                                     \
        AT_ERROR('"', NAME, "\" not implemented for '", kernelsmith_type, "'");    \
    }                                                                              \
  }()
#define AT_DISPATCH_CASE(TYPE, ...)                                                        \
  case TYPE: {                                                                             \
    using scalar_t [[maybe_unused]] = typename c10::impl::ScalarTypeToCPPType<TYPE>::type; \
    return __VA_ARGS__();                                                                  \
  }

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)            \
  AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(ONE, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)        \
  AT_DISPATCH_CASE(ONE, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND(at::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND2(ONE, TWO, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND(ONE, __VA_ARGS__)     \
  AT_DISPATCH_CASE(TWO, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)          \
  AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__)  \
  AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)        \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND(ONE, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)        \
  AT_DISPATCH_CASE(ONE, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND2(ONE, TWO, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND(ONE, __VA_ARGS__)     \
  AT_DISPATCH_CASE(TWO, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND3(ONE, TWO, THREE, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND2(ONE, TWO, __VA_ARGS__)      \
  AT_DISPATCH_CASE(THREE, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(ONE, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND(ONE, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(ONE, TWO, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND2(ONE, TWO, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...)              \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                         \
                     AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__) \
                         AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(ONE, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND(ONE, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(ONE, TWO, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND2(ONE, TWO, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(ONE, TWO, THREE, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND3(ONE, TWO, THREE, __VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                                           \
  [&] {                                                                                                    \
    if (kernelsmith::extension::type_of(TYPE) == at::ScalarType::Int) {                                    \
      using index_t = int;                                                                                 \
      return __VA_ARGS__();                                                                                \
    }                                                                                                      \
    TORCH_CHECK(kernelsmith::extension::type_of(TYPE) == at::ScalarType::Long, NAME, " of an index type"); \
    using index_t = std::int64_t;                                                                          \
    return __VA_ARGS__();                                                                                  \
  }()
