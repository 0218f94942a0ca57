// Handles of tensors, and results that Python frees.
#include <cstdlib>
#include <cstring>
#include <new>

#include "python_side.hpp"
#include "stand_in/argument.hpp"
#include "stand_in/tensor.hpp"

namespace kernelsmith::extension {
namespace {

/// Allocates the facts, followed by sizes and strides.
Facts* allocate(std::int64_t dimensions) {
  const std::size_t numbers = 2 * static_cast<std::size_t>(dimensions);
  void* const memory = std::malloc(sizeof(Facts) + numbers * sizeof(std::int64_t));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<Facts*>(memory);
}

}  // namespace

const Facts& defined(const Facts* facts) {
  if (facts == nullptr) fail("tensor does not have a device: it is undefined");
  return *facts;
}

void* data_of(const Facts* facts) { return facts == nullptr ? nullptr : facts->data; }

void* data_of(const Facts* facts, c10::ScalarType wanted) {
  const auto found = static_cast<c10::ScalarType>(defined(facts).dtype);
  if (found != wanted) fail(text_of("expected scalar type ", wanted, " but found ", found).c_str());
  return facts->data;
}

std::int64_t dimension(const Facts* facts, std::int64_t index) {
  const std::int64_t count = defined(facts).dimensions;
  if (index < -count || index >= count)
    fail(text_of("Dimension out of range (expected to be in range of [", -count, ", ", count - 1,
                 "], but got ", index, ")")
             .c_str());
  return index < 0 ? index + count : index;
}

}  // namespace kernelsmith::extension

using namespace kernelsmith::extension;

/// `numbers` are sizes, then strides. The caller owns the result.
extern "C" Facts* kernelsmith_extension_tensor(const Facts* model, const std::int64_t* numbers) {
  Facts* const made = allocate(model->dimensions);
  auto* const own = reinterpret_cast<std::int64_t*>(made + 1);
  *made = *model;
  made->references = 1;
  made->sizes = own;
  made->strides = own + model->dimensions;
  std::memcpy(own, numbers, 2 * static_cast<std::size_t>(model->dimensions) * sizeof(std::int64_t));
  return made;
}

extern "C" void kernelsmith_tensor_retain(Facts* facts) { ++facts->references; }

extern "C" void kernelsmith_tensor_release(Facts* facts) {
  if (--facts->references > 0) return;
  python().drop(facts->identity);
  std::free(facts);
}

extern "C" void kernelsmith_make_list(Value* value, int count) {
  *value = {};
  value->kind = kList;
  value->count = count;
  value->values = static_cast<Value*>(std::calloc(static_cast<std::size_t>(count) + 1, sizeof(Value)));
  if (value->values == nullptr) throw std::bad_alloc();
}

extern "C" void kernelsmith_make_text(Value* value, const char* text) {
  *value = {};
  value->kind = kString;
  value->text = strdup(text);
}

extern "C" void kernelsmith_extension_free(const void* memory) { std::free(const_cast<void*>(memory)); }
