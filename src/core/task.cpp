#include <kernelsmith/core/task.hpp>

namespace kernelsmith {

std::size_t bytes_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
    case Dtype::i64:
      return 8;
    case Dtype::f32:
    case Dtype::i32:
      return 4;
    case Dtype::f16:
    case Dtype::bf16:
      return 2;
    case Dtype::f8e4m3:
    case Dtype::f8e5m2:
    case Dtype::i8:
    case Dtype::u8:
    case Dtype::boolean:
      return 1;
  }
  return 0;
}

std::string describe(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) {
    if (!text.empty()) text += ' ';
    text += name + "=" + std::to_string(value);
  }
  return text;
}

}  // namespace kernelsmith
