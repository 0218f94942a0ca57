// SetCache: the bank's inputs and expected outputs on the device, in the judge's own memory. They are
// uploaded once and used in every batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <kernelsmith/evaluator/input_set.hpp>

#include "device/device.hpp"

namespace kernelsmith::cuda {

/// Addresses of a set on the device, by tensor; 0 for none.
struct SetOnDevice {
  std::vector<std::uint64_t> inputs, values, weights;
};

/// Not thread-safe.
class SetCache {
 public:
  /// Holds at most `limit` bytes; when they are exceeded, everything is dropped.
  SetCache(Device& device, std::size_t limit) : device_(device), limit_(limit) {}

  /// The set's addresses on the device, valid until the next make_room().
  Result<const SetOnDevice*> find_or_upload(std::size_t shape, const InputSet& set);

  /// Drops everything, such as the sets of an earlier bank, if the limit is reached.
  void make_room();

 private:
  /// The shape and the whole recipe.
  using Key = std::tuple<std::size_t, decltype(InputRecipe::key), decltype(InputRecipe::constants_key), bool>;
  struct Entry {
    PrivateMemory memory;
    SetOnDevice addresses;
  };

  Device& device_;
  const std::size_t limit_;
  std::size_t bytes_ = 0;
  std::map<Key, Entry> entries_;
};

}  // namespace kernelsmith::cuda
