// Value: the data for rendering a template.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kernelsmith {

/// Null, a boolean, a text, a list or a map. Numbers are passed as text. Treated as immutable; safe to share
/// between threads.
class Value {
 public:
  using List = std::vector<Value>;
  using Map = std::map<std::string, Value, std::less<>>;

  Value() = default;
  Value(bool truth) : held_(truth) {}                         // NOLINT(*-explicit-*)
  Value(std::string text) : held_(std::move(text)) {}         // NOLINT(*-explicit-*)
  Value(const char* text) : held_(std::string(text)) {}       // NOLINT(*-explicit-*)
  Value(std::string_view text) : held_(std::string(text)) {}  // NOLINT(*-explicit-*)
  Value(List list) : held_(std::move(list)) {}                // NOLINT(*-explicit-*)
  Value(Map map) : held_(std::move(map)) {}                   // NOLINT(*-explicit-*)

  /// Returns false for null, false, an empty text and an empty list.
  bool truthy() const;

  /// The text; null if the value is of another kind.
  const std::string* text() const { return std::get_if<std::string>(&held_); }
  const List* list() const { return std::get_if<List>(&held_); }
  const Map* map() const { return std::get_if<Map>(&held_); }

  /// The entry of a map; null if it is missing or the value is not a map.
  const Value* find(std::string_view key) const;

 private:
  std::variant<std::monostate, bool, std::string, List, Map> held_;
};

}  // namespace kernelsmith
