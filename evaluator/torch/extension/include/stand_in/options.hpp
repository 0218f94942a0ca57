// TensorOptions: a factory's arguments besides shapes.
#pragma once

#include "stand_in/types.hpp"

namespace c10 {

struct TensorOptions {
  /// -1: not given.
  int type_ = -1, device_ = -1, format_ = -1, requires_grad_ = -1;

  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(static_cast<int>(type)) {}
  TensorOptions(TypeMeta type) : type_(static_cast<int>(type.type)) {}
  TensorOptions(Device device) : device_(static_cast<int>(device.type())) {}
  TensorOptions(DeviceType device) : device_(static_cast<int>(device)) {}
  TensorOptions(const char* device) : TensorOptions(Device(device)) {}
  TensorOptions(MemoryFormat format) : format_(static_cast<int>(format)) {}
  TensorOptions(Layout) {}

  TensorOptions dtype(ScalarType type) const { return with(&TensorOptions::type_, static_cast<int>(type)); }
  TensorOptions dtype(TypeMeta type) const { return dtype(type.type); }
  template <class T>
  TensorOptions dtype() const {
    return dtype(CppTypeToScalarType<T>::value);
  }
  TensorOptions device(Device device) const {
    return with(&TensorOptions::device_, static_cast<int>(device.type()));
  }
  TensorOptions device(DeviceType type, int = -1) const { return device(Device(type)); }
  TensorOptions device_index(int) const { return device(kCUDA); }
  TensorOptions layout(Layout) const { return *this; }
  TensorOptions pinned_memory(bool) const { return *this; }
  TensorOptions requires_grad(bool wanted = true) const {
    return with(&TensorOptions::requires_grad_, wanted);
  }
  TensorOptions memory_format(MemoryFormat format) const {
    return with(&TensorOptions::format_, static_cast<int>(format));
  }
  TypeMeta dtype() const { return type_ < 0 ? kFloat : static_cast<ScalarType>(type_); }
  Device device() const { return device_ < 0 ? kCPU : static_cast<DeviceType>(device_); }
  Layout layout() const { return kStrided; }
  bool requires_grad() const { return requires_grad_ == 1; }

 private:
  TensorOptions with(int TensorOptions::*member, int value) const {
    TensorOptions changed = *this;
    changed.*member = value;
    return changed;
  }
};

inline TensorOptions dtype(ScalarType type) { return type; }
inline TensorOptions dtype(TypeMeta type) { return type; }
template <class T>
TensorOptions dtype() {
  return CppTypeToScalarType<T>::value;
}
inline TensorOptions device(Device device) { return device; }
inline TensorOptions device(DeviceType device) { return device; }
inline TensorOptions layout(Layout) { return {}; }
inline TensorOptions requires_grad(bool wanted = true) { return TensorOptions().requires_grad(wanted); }

}  // namespace c10
