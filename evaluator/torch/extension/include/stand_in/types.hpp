// c10's small types: element types, devices, formats, views of arrays, scalars.
#pragma once

#include "stand_in/base.hpp"

namespace c10 {

struct Half;
struct BFloat16;

enum class ScalarType : std::int8_t {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  ComplexHalf,
  ComplexFloat,
  ComplexDouble,
  Bool,
  QInt8,
  QUInt8,
  QInt32,
  BFloat16,
  QUInt4x2,
  QUInt2x4,
  Bits1x8,
  Bits2x4,
  Bits4x2,
  Bits8,
  Bits16,
  Float8_e5m2,
  Float8_e4m3fn,
  Undefined = 127,
};
enum class DeviceType : std::int8_t { CPU = 0, CUDA = 1 };
enum class MemoryFormat : std::int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
enum class Layout : std::int8_t { Strided };
using DeviceIndex = std::int8_t;

constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
constexpr Layout kStrided = Layout::Strided;

/// Element types that C++ can read: TYPE(the C++ type, its name).
#define KERNELSMITH_ELEMENT_TYPES(TYPE) \
  TYPE(std::uint8_t, Byte)              \
  TYPE(std::int8_t, Char)               \
  TYPE(std::int16_t, Short)             \
  TYPE(int, Int)                        \
  TYPE(std::int64_t, Long)              \
  TYPE(Half, Half)                      \
  TYPE(float, Float)                    \
  TYPE(double, Double)                  \
  TYPE(bool, Bool)                      \
  TYPE(BFloat16, BFloat16)

template <class T>
struct CppTypeToScalarType;
namespace impl {
template <ScalarType>
struct ScalarTypeToCPPType;
}
#define KERNELSMITH_ELEMENT_TYPE(CPP, NAME)               \
  template <>                                             \
  struct CppTypeToScalarType<CPP> {                       \
    static constexpr ScalarType value = ScalarType::NAME; \
  };                                                      \
  template <>                                             \
  struct impl::ScalarTypeToCPPType<ScalarType::NAME> {    \
    using type = CPP;                                     \
  };                                                      \
  constexpr ScalarType k##NAME = ScalarType::NAME;
KERNELSMITH_ELEMENT_TYPES(KERNELSMITH_ELEMENT_TYPE)
#undef KERNELSMITH_ELEMENT_TYPE

constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong,
                     kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;
constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2, kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;

inline const char* toString(ScalarType type) {
  static const char* const names[] = {"Byte",        "Char",         "Short",         "Int",
                                      "Long",        "Half",         "Float",         "Double",
                                      "ComplexHalf", "ComplexFloat", "ComplexDouble", "Bool"};
  if (type == ScalarType::BFloat16) return "BFloat16";
  if (type == ScalarType::Float8_e5m2) return "Float8_e5m2";
  if (type == ScalarType::Float8_e4m3fn) return "Float8_e4m3fn";
  return type <= ScalarType::Bool ? names[static_cast<int>(type)] : "Undefined";
}
inline std::size_t elementSize(ScalarType type) {
  constexpr int sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1};
  if (type == ScalarType::BFloat16) return 2;
  return type <= ScalarType::Bool ? static_cast<std::size_t>(sizes[static_cast<int>(type)]) : 1;
}
inline bool isFloatingType(ScalarType t) {
  return t == kHalf || t == kFloat || t == kDouble || t == kBFloat16;
}
inline bool isReducedFloatingType(ScalarType t) { return t == kHalf || t == kBFloat16; }
inline bool isIntegralType(ScalarType t, bool with_bool = false) {
  return t <= ScalarType::Long || (with_bool && t == ScalarType::Bool);
}

/// The result of Tensor::dtype().
struct TypeMeta {
  ScalarType type = ScalarType::Undefined;
  TypeMeta() = default;
  TypeMeta(ScalarType t) : type(t) {}
  operator ScalarType() const { return type; }
  ScalarType toScalarType() const { return type; }
  const char* name() const { return toString(type); }
  std::size_t itemsize() const { return elementSize(type); }
};
inline bool operator==(TypeMeta a, TypeMeta b) { return a.type == b.type; }
inline bool operator==(TypeMeta a, ScalarType b) { return a.type == b; }
inline bool operator!=(TypeMeta a, TypeMeta b) { return a.type != b.type; }
inline bool operator!=(TypeMeta a, ScalarType b) { return a.type != b; }
#if __cplusplus < 202002L  // from C++20 on, the compiler swaps the operands itself
inline bool operator==(ScalarType a, TypeMeta b) { return a == b.type; }
inline bool operator!=(ScalarType a, TypeMeta b) { return a != b.type; }
#endif
inline ScalarType typeMetaToScalarType(TypeMeta meta) { return meta.type; }
inline TypeMeta scalarTypeToTypeMeta(ScalarType type) { return type; }

struct Device {
  Device() = default;
  Device(DeviceType type, int index = -1) : type_(type), index_(index) {}
  Device(const char* name) : type_(name[0] == 'c' && name[1] == 'u' ? DeviceType::CUDA : DeviceType::CPU) {}
  template <class Text, class = decltype(std::declval<const Text&>().c_str())>
  Device(const Text& name) : Device(name.c_str()) {}
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return static_cast<DeviceIndex>(index_); }
  bool has_index() const { return index_ >= 0; }
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  const char* str() const { return is_cuda() ? "cuda:0" : "cpu"; }
  /// There is one device of each type.
  bool operator==(const Device& other) const { return type_ == other.type_; }
  bool operator!=(const Device& other) const { return type_ != other.type_; }

 private:
  DeviceType type_ = DeviceType::CPU;
  int index_ = -1;
};

/// A non-owning view of an array.
template <class T>
struct ArrayRef {
  using value_type = T;
  ArrayRef() = default;
  ArrayRef(const T& one) : data_(&one), size_(1) {}
  ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
  ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<std::size_t>(end - begin)) {}
  ArrayRef(const std::initializer_list<T>& list) : data_(list.begin()), size_(list.size()) {}
  template <class Container, class = std::enable_if_t<std::is_convertible_v<
                                 decltype(std::declval<const Container&>().data()), const T*>>>
  ArrayRef(const Container& container) : data_(container.data()), size_(container.size()) {}
  const T& operator[](std::size_t i) const { return data_[i]; }
  const T& at(std::size_t i) const { return data_[i]; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  ArrayRef slice(std::size_t at, std::size_t count) const { return {data_ + at, count}; }
  ArrayRef slice(std::size_t at) const { return {data_ + at, size_ - at}; }
  bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i)
      if (!(data_[i] == other.data_[i])) return false;
    return true;
  }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};
template <class T>
bool operator==(const ArrayRef<T>& a, const ArrayRef<T>& b) {
  return a.equals(b);
}
template <class T>
bool operator!=(const ArrayRef<T>& a, const ArrayRef<T>& b) {
  return !a.equals(b);
}
template <class T>
bool operator==(const ArrayRef<T>& a, const std::vector<T>& b) {
  return a.equals(b);
}
template <class T>
bool operator!=(const ArrayRef<T>& a, const std::vector<T>& b) {
  return !a.equals(b);
}
using IntArrayRef = ArrayRef<std::int64_t>;
using SymInt = std::int64_t;

template <class T>
using optional = std::optional<T>;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;

struct Scalar {
  Scalar() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T value)
      : real_(std::is_floating_point_v<T>),
        as_real_(static_cast<double>(value)),
        as_integer_(static_cast<std::int64_t>(value)) {}
  template <class T>
  T to() const {
    return static_cast<T>(toDouble());
  }
  double toDouble() const { return real_ ? as_real_ : static_cast<double>(as_integer_); }
  float toFloat() const { return static_cast<float>(toDouble()); }
  std::int64_t toLong() const { return real_ ? static_cast<std::int64_t>(as_real_) : as_integer_; }
  int toInt() const { return static_cast<int>(toLong()); }
  bool toBool() const { return toDouble() != 0; }
  bool isFloatingPoint() const { return real_; }

 private:
  bool real_ = false;
  double as_real_ = 0;
  std::int64_t as_integer_ = 0;
};

}  // namespace c10
