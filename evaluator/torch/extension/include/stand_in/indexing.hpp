// torch::indexing: x.index({Slice(0, 3), "...", None, i}).
#pragma once

#include "stand_in/argument.hpp"

namespace at::indexing {

constexpr std::nullopt_t None = std::nullopt;
struct EllipsisIndexType {};
constexpr EllipsisIndexType Ellipsis{};

struct Slice {
  using Maybe = std::optional<std::int64_t>;
  Slice(Maybe from = {}, Maybe to = {}, Maybe by = {}) : start(from), stop(to), step(by) {}
  Maybe start, stop, step;
};

class TensorIndex {
 public:
  TensorIndex(std::nullopt_t) {}
  TensorIndex(EllipsisIndexType) : argument_("...") {}
  TensorIndex(const char* ellipsis) : argument_(ellipsis) {}
  TensorIndex(const Slice& slice)
      : argument_(std::vector<KERNELSMITH_ARGUMENT>{slice.start, slice.stop, slice.step},
                  kernelsmith::extension::kTuple) {}
  TensorIndex(const Tensor& tensor) : argument_(tensor) {}
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  TensorIndex(T number) : argument_(number) {}
  const KERNELSMITH_ARGUMENT& argument() const { return argument_; }

 private:
  KERNELSMITH_ARGUMENT argument_;
};

/// Several indices as one argument.
inline KERNELSMITH_ARGUMENT list_of(ArrayRef<TensorIndex> indices) {
  std::vector<KERNELSMITH_ARGUMENT> arguments;
  for (const TensorIndex& each : indices) arguments.push_back(each.argument());
  return KERNELSMITH_ARGUMENT(arguments, kernelsmith::extension::kList);
}

}  // namespace at::indexing
