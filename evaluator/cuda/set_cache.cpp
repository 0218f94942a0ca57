#include "set_cache.hpp"

#include "alignment.hpp"

namespace kernelsmith::cuda {
namespace {

/// A part of the set and the place for its address.
struct Part {
  const Bytes& bytes;
  std::uint64_t& address;
};

}  // namespace

Result<const SetOnDevice*> SetCache::find_or_upload(std::size_t shape, const InputSet& set) {
  const InputRecipe& recipe = set.recipe;
  const Key key{shape, recipe.key, recipe.constants_key, recipe.specials};
  if (const auto found = entries_.find(key); found != entries_.end()) return &found->second.addresses;
  Entry entry;
  for (auto* const list : {&entry.addresses.inputs, &entry.addresses.values, &entry.addresses.weights})
    list->resize(set.inputs.size());
  std::vector<Part> parts;
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < set.inputs.size(); ++t)
    for (const Part& part : {Part{set.inputs[t], entry.addresses.inputs[t]},
                             Part{set.outputs[t].values, entry.addresses.values[t]},
                             Part{set.outputs[t].weights, entry.addresses.weights[t]}}) {
      if (part.bytes.empty()) continue;
      parts.push_back(part);
      bytes += aligned(part.bytes.size());
    }
  auto memory = device_.allocate(bytes);
  if (!memory) return memory.error();
  entry.memory = std::move(*memory);
  std::uint64_t address = entry.memory.address();
  for (const Part& part : parts) {
    if (auto done = device_.upload(address, part.bytes); !done) return done.error();
    part.address = address;
    address += aligned(part.bytes.size());
  }
  bytes_ += bytes;
  return &entries_.emplace(key, std::move(entry)).first->second.addresses;
}

void SetCache::make_room() {
  if (bytes_ <= limit_) return;
  entries_.clear();
  bytes_ = 0;
}

}  // namespace kernelsmith::cuda
