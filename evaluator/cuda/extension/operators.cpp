// Passes arguments of operators to Python, and returns results.
#include "stand_in/operators.hpp"

#include <string>

#include "python_side.hpp"

namespace kernelsmith::extension {

struct Argument::Owned {
  int references = 1;
  std::vector<std::int64_t> integers;
  std::vector<Value> values;
  std::vector<at::Tensor> tensors;
  std::vector<Argument> arguments;
  std::string text;
};

Argument::Owned& Argument::own() {
  if (owned_ == nullptr) owned_ = new Owned;
  return *owned_;
}

namespace {

Value value_of(const at::Tensor& tensor) {
  Value value{};
  if (!tensor.defined()) return value;
  value.kind = kTensor;
  value.tensor = tensor.unsafe_facts();
  return value;
}

Value number(int kind, std::int64_t integer) {
  Value value{};
  value.kind = kind;
  value.integer = integer;
  return value;
}

}  // namespace

Argument::Argument(const at::Tensor& tensor) : value_(value_of(tensor)) {
  if (tensor.defined()) own().tensors.push_back(tensor);
}
Argument::Argument(at::TensorList tensors) {
  Owned& owned = own();
  owned.tensors.assign(tensors.begin(), tensors.end());
  for (const at::Tensor& tensor : owned.tensors) owned.values.push_back(value_of(tensor));
  value_ = number(kList, 0);
  value_.count = static_cast<int>(owned.values.size());
  value_.values = owned.values.data();
}
Argument::Argument(const std::vector<at::Tensor>& tensors) : Argument(at::TensorList(tensors)) {}
Argument::Argument(std::initializer_list<at::Tensor> tensors)
    : Argument(at::TensorList(tensors.begin(), tensors.size())) {}
Argument::Argument(const c10::Scalar& scalar) {
  *this = scalar.isFloatingPoint() ? Argument(scalar.toDouble()) : Argument(scalar.toLong());
}
Argument::Argument(c10::IntArrayRef integers) {
  Owned& owned = own();
  owned.integers = integers.vec();
  value_ = number(kInts, 0);
  value_.count = static_cast<int>(owned.integers.size());
  value_.integers = owned.integers.data();
}
Argument::Argument(std::initializer_list<std::int64_t> integers)
    : Argument(c10::IntArrayRef(integers.begin(), integers.size())) {}
Argument::Argument(const std::vector<std::int64_t>& integers) : Argument(c10::IntArrayRef(integers)) {}
Argument::Argument(const std::vector<double>& numbers) {
  Owned& owned = own();
  for (const double each : numbers) owned.values.push_back(Argument(each).value());
  value_ = number(kList, 0);
  value_.count = static_cast<int>(owned.values.size());
  value_.values = owned.values.data();
}
Argument::Argument(const std::vector<Argument>& arguments, ValueKind kind) {
  Owned& owned = own();
  owned.arguments = arguments;
  for (const Argument& each : arguments) owned.values.push_back(each.value());
  value_ = number(kind, 0);
  value_.count = static_cast<int>(owned.values.size());
  value_.values = owned.values.data();
}
Argument::Argument(const char* text) {
  own().text = text;
  value_ = number(kString, 0);
  value_.text = owned_->text.c_str();
}
Argument::Argument(c10::ScalarType type) : value_(number(kDtype, static_cast<std::int64_t>(type))) {}
Argument::Argument(c10::Device device) : value_(number(kDevice, static_cast<std::int64_t>(device.type()))) {}
Argument::Argument(c10::MemoryFormat format) : value_(number(kFormat, static_cast<std::int64_t>(format))) {}
Argument::Argument(const c10::TensorOptions& options)
    : Argument({options.type_, options.device_, options.format_, options.requires_grad_}) {
  value_.kind = kOptions;
}
Argument::Argument(const Argument& other) : value_(other.value_), owned_(other.owned_) {
  if (owned_ != nullptr) ++owned_->references;
}
Argument& Argument::operator=(Argument other) {
  std::swap(value_, other.value_);
  std::swap(owned_, other.owned_);
  return *this;
}
Argument::~Argument() {
  if (owned_ != nullptr && --owned_->references == 0) delete owned_;
}

void fail(const char* text) { throw c10::Error(text); }

namespace {

/// The most results of one operator: chunks and splits give lists.
constexpr int kMostResults = 1024;

/// Returns the number of results. Missing arguments at the end are left out.
int ask(const char* name, std::initializer_list<Argument> arguments, Value* results, int most) {
  std::vector<Value> values;
  for (const Argument& argument : arguments) values.push_back(argument.value());
  while (!values.empty() && values.back().kind == kNone) values.pop_back();
  const int count = python().operate(name, values.data(), static_cast<int>(values.size()), results, most);
  if (count < 0) fail(error_text());
  return count;
}

/// Takes over a result, which the caller owns.
at::Tensor taken(const Value& value) {
  return value.kind == kTensor ? at::Tensor(static_cast<Facts*>(value.tensor)) : at::Tensor();
}

}  // namespace

at::Tensor call(const char* name, std::initializer_list<Argument> arguments) {
  Value result{};
  ask(name, arguments, &result, 1);
  return taken(result);
}

void call(const char* name, std::initializer_list<Argument> arguments, at::Tensor* results, int count) {
  std::vector<Value> values(static_cast<std::size_t>(count));
  ask(name, arguments, values.data(), count);
  for (int i = 0; i < count; ++i) results[i] = taken(values[static_cast<std::size_t>(i)]);
}

std::vector<at::Tensor> call_for_list(const char* name, std::initializer_list<Argument> arguments) {
  std::vector<Value> values(kMostResults);
  const int count = ask(name, arguments, values.data(), kMostResults);
  std::vector<at::Tensor> tensors;
  for (int i = 0; i < count; ++i) tensors.push_back(taken(values[static_cast<std::size_t>(i)]));
  return tensors;
}

double call_for_number(const char* name, std::initializer_list<Argument> arguments) {
  Value result{};
  ask(name, arguments, &result, 1);
  return result.kind == kDouble ? result.real : static_cast<double>(result.integer);
}

}  // namespace kernelsmith::extension

namespace at {
namespace {

Tensor::Pair pair(const char* name, std::initializer_list<extension::Argument> arguments) {
  Tensor results[2];
  extension::call(name, arguments, results, 2);
  return {results[0], results[1]};
}

}  // namespace

#define KERNELSMITH_METHOD(NAME)                                                           \
  Tensor Tensor::NAME(extension::Argument a, extension::Argument b, extension::Argument c, \
                      extension::Argument d, extension::Argument e) const {                \
    return extension::call("." #NAME, {*this, a, b, c, d, e});                             \
  }
#include "stand_in/methods.def"
#define KERNELSMITH_FUNCTION(NAME)                                                                        \
  Tensor NAME(extension::Argument a, extension::Argument b, extension::Argument c, extension::Argument d, \
              extension::Argument e, extension::Argument f, extension::Argument g, extension::Argument h, \
              extension::Argument i) {                                                                    \
    return extension::call(#NAME, {a, b, c, d, e, f, g, h, i});                                           \
  }
#include "stand_in/functions.def"

#define KERNELSMITH_OPERATOR(SIGN, NAME, TURNED)                  \
  Tensor operator SIGN(const Tensor& left, const Tensor& right) { \
    return extension::call("." #NAME, {left, right});             \
  }                                                               \
  Tensor operator SIGN(const Tensor& left, const Scalar& right) { \
    return extension::call("." #NAME, {left, right});             \
  }                                                               \
  Tensor operator SIGN(const Scalar& left, const Tensor& right) { \
    return extension::call("." #TURNED, {right, left});           \
  }
KERNELSMITH_OPERATORS(KERNELSMITH_OPERATOR)

/// Defines NAME as methods and as functions: without arguments, with another tensor, with a dimension.
#define KERNELSMITH_EXTREME(NAME)                                                                       \
  Tensor Tensor::NAME() const { return extension::call("." #NAME, {*this}); }                           \
  Tensor Tensor::NAME(const Tensor& other) const { return extension::call("." #NAME, {*this, other}); } \
  Tensor::Pair Tensor::NAME(extension::Argument dim, bool keepdim) const {                              \
    return pair("." #NAME, {*this, dim, keepdim});                                                      \
  }                                                                                                     \
  Tensor NAME(const Tensor& self) { return self.NAME(); }                                               \
  Tensor NAME(const Tensor& self, const Tensor& other) { return self.NAME(other); }                     \
  Tensor::Pair NAME(const Tensor& self, std::int64_t dim, bool keepdim) { return self.NAME(dim, keepdim); }
KERNELSMITH_EXTREME(max)
KERNELSMITH_EXTREME(min)

Tensor::Pair Tensor::topk(std::int64_t k, std::int64_t dim, bool largest, bool sorted) const {
  return pair(".topk", {*this, k, dim, largest, sorted});
}
Tensor::Pair Tensor::sort(std::int64_t dim, bool descending) const {
  return pair(".sort", {*this, dim, descending});
}
std::vector<Tensor> Tensor::chunk(std::int64_t chunks, std::int64_t dim) const {
  return extension::call_for_list(".chunk", {*this, chunks, dim});
}
std::vector<Tensor> Tensor::split(extension::Argument size, std::int64_t dim) const {
  return extension::call_for_list(".split", {*this, size, dim});
}
std::vector<Tensor> Tensor::split_with_sizes(extension::Argument sizes, std::int64_t dim) const {
  return extension::call_for_list(".split_with_sizes", {*this, sizes, dim});
}
std::vector<Tensor> Tensor::unbind(std::int64_t dim) const {
  return extension::call_for_list(".unbind", {*this, dim});
}

Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
  return extension::call(".index", {*this, indexing::list_of(indices)});
}
Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return index(ArrayRef<indexing::TensorIndex>(indices.begin(), indices.size()));
}
Tensor Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                          extension::Argument value) const {
  return extension::call(
      ".index_put_",
      {*this, indexing::list_of(ArrayRef<indexing::TensorIndex>(indices.begin(), indices.size())), value});
}

Tensor::Pair topk(const Tensor& self, std::int64_t k, std::int64_t dim, bool largest, bool sorted) {
  return self.topk(k, dim, largest, sorted);
}
Tensor::Pair sort(const Tensor& self, std::int64_t dim, bool descending) {
  return self.sort(dim, descending);
}
Tensor::Pair var_mean(const Tensor& self, extension::Argument a, extension::Argument b, extension::Argument c,
                      extension::Argument d, extension::Argument e) {
  return pair("var_mean", {self, a, b, c, d, e});
}
Tensor::Pair max_pool2d_with_indices(const Tensor& self, extension::Argument a, extension::Argument b,
                                     extension::Argument c, extension::Argument d, extension::Argument e,
                                     extension::Argument f, extension::Argument g, extension::Argument h,
                                     extension::Argument i) {
  return pair("max_pool2d_with_indices", {self, a, b, c, d, e, f, g, h, i});
}
std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& self, extension::Argument a,
                                                     extension::Argument b, extension::Argument c,
                                                     extension::Argument d, extension::Argument e) {
  Tensor results[3];
  extension::call("native_layer_norm", {self, a, b, c, d, e}, results, 3);
  return {results[0], results[1], results[2]};
}
std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
  return self.chunk(chunks, dim);
}
std::vector<Tensor> split(const Tensor& self, extension::Argument size, std::int64_t dim) {
  return self.split(size, dim);
}
std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim) { return self.unbind(dim); }
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim) {
  return extension::call("cat", {tensors, dim});
}
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim) {
  return extension::call("stack", {tensors, dim});
}

}  // namespace at
