#include <kernelsmith/prompts/value.hpp>

namespace kernelsmith {

bool Value::truthy() const {
  if (const bool* truth = std::get_if<bool>(&held_)) return *truth;
  if (const std::string* held = text()) return !held->empty();
  if (const List* held = list()) return !held->empty();
  return map() != nullptr;
}

const Value* Value::find(std::string_view key) const {
  const Map* entries = map();
  if (!entries) return nullptr;
  const auto at = entries->find(key);
  return at == entries->end() ? nullptr : &at->second;
}

}  // namespace kernelsmith
