// at::Tensor: a reference-counted handle of the facts of a fake tensor. Operators are forwarded to Python;
// their bodies are in the planner's library, so that a unit compiles little code.
#pragma once

#include "stand_in/accessor.hpp"
#include "stand_in/argument.hpp"
#include "stand_in/indexing.hpp"

namespace at {

namespace extension = kernelsmith::extension;

class Tensor {
 public:
  using Pair = std::tuple<Tensor, Tensor>;

  Tensor() = default;
  explicit Tensor(extension::Facts* owned) : facts_(owned) {}
  Tensor(const Tensor& other) : facts_(other.facts_) {
    if (facts_ != nullptr) kernelsmith_tensor_retain(facts_);
  }
  Tensor(Tensor&& other) noexcept : facts_(std::exchange(other.facts_, nullptr)) {}
  Tensor& operator=(Tensor other) & {
    std::swap(facts_, other.facts_);
    return *this;
  }
  // As in PyTorch, `x[0] = y` writes into x; assigning x to itself changes nothing.
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
  Tensor& operator=(const Tensor& other) && {
    copy_(other);
    return *this;
  }
  Tensor& operator=(const Scalar& number) && {
    fill_(number);
    return *this;
  }
  ~Tensor() {
    if (facts_ != nullptr) kernelsmith_tensor_release(facts_);
  }

  // Facts.
  bool defined() const { return facts_ != nullptr; }
  void reset() { *this = Tensor(); }
  bool is_same(const Tensor& other) const { return facts_ == other.facts_; }
  std::int64_t dim() const { return facts().dimensions; }
  std::int64_t ndimension() const { return dim(); }
  std::int64_t numel() const { return facts().elements; }
  std::size_t nbytes() const { return static_cast<std::size_t>(numel() * facts().element_bytes); }
  std::int64_t size(std::int64_t i) const { return facts().sizes[extension::dimension(facts_, i)]; }
  std::int64_t stride(std::int64_t i) const { return facts().strides[extension::dimension(facts_, i)]; }
  IntArrayRef sizes() const { return {facts().sizes, static_cast<std::size_t>(dim())}; }
  IntArrayRef strides() const { return {facts().strides, static_cast<std::size_t>(dim())}; }
  std::int64_t storage_offset() const { return facts().offset; }
  std::int64_t element_size() const { return facts().element_bytes; }
  std::int64_t itemsize() const { return facts().element_bytes; }
  ScalarType scalar_type() const { return static_cast<ScalarType>(facts().dtype); }
  TypeMeta dtype() const { return scalar_type(); }
  extension::Text toString() const {
    return extension::text_of(is_cuda() ? "CUDA" : "CPU", scalar_type(), "Type");
  }
  DeprecatedTypeProperties type() const { return {scalar_type(), device()}; }
  Device device() const { return {static_cast<DeviceType>(facts().device), is_cuda() ? 0 : -1}; }
  bool is_cuda() const { return facts().device == static_cast<int>(kCUDA); }
  bool is_cpu() const { return !is_cuda(); }
  std::int64_t get_device() const { return is_cuda() ? 0 : -1; }
  Layout layout() const { return kStrided; }
  bool is_sparse() const { return false; }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool is_complex() const { return false; }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    const int bit = format == MemoryFormat::ChannelsLast ? 1 : format == MemoryFormat::ChannelsLast3d ? 2 : 0;
    return ((facts().contiguous >> bit) & 1) != 0;
  }
  bool is_non_overlapping_and_dense() const {
    return is_contiguous() || suggest_memory_format() != MemoryFormat::Contiguous;
  }
  MemoryFormat suggest_memory_format() const {
    if (is_contiguous()) return MemoryFormat::Contiguous;
    if (is_contiguous(MemoryFormat::ChannelsLast)) return MemoryFormat::ChannelsLast;
    return is_contiguous(MemoryFormat::ChannelsLast3d) ? MemoryFormat::ChannelsLast3d
                                                       : MemoryFormat::Contiguous;
  }
  bool requires_grad() const { return false; }
  const Tensor& set_requires_grad(bool) const { return *this; }
  const Tensor& requires_grad_(bool = true) const { return *this; }
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }

  // Addresses, which have no memory here.
  template <class T>
  T* data_ptr() const {
    return static_cast<T*>(extension::data_of(facts_, CppTypeToScalarType<std::remove_const_t<T>>::value));
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  void* data_ptr() const { return extension::data_of(facts_); }
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <class T, std::size_t N>
  TensorAccessor<T, N> accessor() const {
    static_assert(
        sizeof(T) == 0,
        "accessor(): tensors have no numbers while planning. Give a kernel a packed_accessor32, or fill an "
        "array and copy it with torch::tensor(std::vector) or cudaMemcpy");
    return {nullptr, facts().sizes, facts().strides};
  }
  template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits,
            class Index = std::int64_t>
  GenericPackedTensorAccessor<T, N, Traits, Index> generic_packed_accessor() const {
    TORCH_CHECK(dim() == static_cast<std::int64_t>(N), "TensorAccessor expected ", N, " dims but tensor has ",
                dim());
    return {data_ptr<T>(), sizes(), strides()};
  }
  template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, Traits> packed_accessor32() const {
    return generic_packed_accessor<T, N, Traits, std::int32_t>();
  }
  template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, Traits> packed_accessor64() const {
    return generic_packed_accessor<T, N, Traits, std::int64_t>();
  }
  template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits,
            class Index = std::int64_t>
  GenericPackedTensorAccessor<T, N, Traits, Index> packed_accessor() const {
    return generic_packed_accessor<T, N, Traits, Index>();
  }

  // Operators.
  Tensor data() const { return *this; }
  Tensor variable_data() const { return *this; }
  Tensor cuda() const { return to(kCUDA); }
  Tensor cpu() const { return to(kCPU); }
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor operator[](std::int64_t i) const { return select(0, i); }
  Tensor operator[](const Tensor& index) const { return index_select(0, index); }
  Tensor operator-() const { return neg(); }
  Tensor& operator+=(extension::Argument other) { return in_place(".add_", other); }
  Tensor& operator-=(extension::Argument other) { return in_place(".sub_", other); }
  Tensor& operator*=(extension::Argument other) { return in_place(".mul_", other); }
  Tensor& operator/=(extension::Argument other) { return in_place(".div_", other); }
  template <class T>
  T item() const {
    return static_cast<T>(extension::call_for_number(".item", {*this}));
  }
  Scalar item() const { return extension::call_for_number(".item", {*this}); }
  bool equal(const Tensor& other) const { return extension::call_for_number(".equal", {*this, other}) != 0; }

#define KERNELSMITH_METHOD(NAME) Tensor NAME(KERNELSMITH_ARGUMENTS) const;
#include "stand_in/methods.def"
#undef KERNELSMITH_METHOD
  Tensor max() const;
  Tensor max(const Tensor& other) const;
  Pair max(extension::Argument dim, bool keepdim = false) const;
  Tensor min() const;
  Tensor min(const Tensor& other) const;
  Pair min(extension::Argument dim, bool keepdim = false) const;
  Pair topk(std::int64_t k, std::int64_t dim = -1, bool largest = true, bool sorted = true) const;
  Pair sort(std::int64_t dim = -1, bool descending = false) const;
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t dim = 0) const;
  std::vector<Tensor> split(extension::Argument size, std::int64_t dim = 0) const;
  std::vector<Tensor> split_with_sizes(extension::Argument sizes, std::int64_t dim = 0) const;
  std::vector<Tensor> unbind(std::int64_t dim = 0) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor index_put_(std::initializer_list<indexing::TensorIndex> indices, extension::Argument value) const;

  extension::Facts* unsafe_facts() const { return facts_; }
  extension::Facts* release_facts() { return std::exchange(facts_, nullptr); }

 private:
  const extension::Facts& facts() const { return extension::defined(facts_); }
  Tensor& in_place(const char* name, const extension::Argument& other) {
    static_cast<void>(extension::call(name, {*this, other}));
    return *this;
  }
  extension::Facts* facts_ = nullptr;
};

}  // namespace at
