// Accessors: a tensor's address, sizes and strides, as kernels take them by value.
#pragma once

#include "stand_in/types.hpp"

namespace at {

template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits,
          class Index = std::int64_t>
class TensorAccessor {
 public:
  using PtrType = typename Traits<T>::PtrType;
  KERNELSMITH_ANYWHERE TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  KERNELSMITH_ANYWHERE decltype(auto) operator[](Index i) const {
    if constexpr (N > 1)
      return TensorAccessor<T, N - 1, Traits, Index>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    else
      return static_cast<T&>(data_[strides_[0] * i]);
  }
  KERNELSMITH_ANYWHERE Index size(int i) const { return sizes_[i]; }
  KERNELSMITH_ANYWHERE Index stride(int i) const { return strides_[i]; }
  KERNELSMITH_ANYWHERE PtrType data() const { return data_; }

 private:
  PtrType data_;
  const Index *sizes_, *strides_;
};

template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits,
          class Index = std::int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename Traits<T>::PtrType;
  template <class Numbers>
  GenericPackedTensorAccessor(PtrType data, const Numbers& sizes, const Numbers& strides) : data_(data) {
    for (std::size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }
  KERNELSMITH_ANYWHERE decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, N, Traits, Index>(data_, sizes_, strides_)[i];
  }
  KERNELSMITH_ANYWHERE Index size(int i) const { return sizes_[i]; }
  KERNELSMITH_ANYWHERE Index stride(int i) const { return strides_[i]; }
  KERNELSMITH_ANYWHERE PtrType data() const { return data_; }

 private:
  PtrType data_;
  Index sizes_[N], strides_[N];
};

template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, std::int32_t>;
template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, std::int64_t>;
template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits,
          class Index = std::int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, Index>;

}  // namespace at
