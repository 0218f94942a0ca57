// Reads and writes strict YAML for task.yaml and run.yaml. docs/formats.md says what is accepted.
//
// A reader names every known key once. Any other key is refused, with its line and the nearest known name.
//
//   Task task;
//   Status status = read_yaml(text, "task.yaml", [&](YamlMap& in) {
//     in.required("name", task.name);
//     in.optional("threads", task.threads, {1, 64});
//     in.optional_map("declared", [&](YamlMap& declared) { declared.optional("bytes", task.declared.bytes);
//     });
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// A value whose type its text shows: `true`, `3`, `.5`, or a text.
using YamlScalar = std::variant<bool, std::int64_t, double, std::string>;

/// Closed bounds of a number.
template <class T>
struct Range {
  T low = std::numeric_limits<T>::lowest();
  T high = std::numeric_limits<T>::max();
};

namespace detail {
template <class T>
struct BoundOf {};
template <class T>
requires std::is_arithmetic_v<T>
struct BoundOf<T> {
  using type = T;
};
template <>
struct BoundOf<std::vector<double>> {
  using type = double;
};
template <>
struct BoundOf<std::map<std::string, std::int64_t>> {
  using type = std::int64_t;
};
}  // namespace detail

/// A description such as "a whole number from 1 to 1024".
template <class T>
std::string words_of(Range<T> range);

/// The type of the range of a number, or of the numbers in a container.
template <class T>
using RangeOf = Range<typename detail::BoundOf<T>::type>;

/// The texts that are allowed, and the value that each names.
template <class E>
using Choices = std::vector<std::pair<std::string_view, E>>;

/// Maps a word of another program to our word, or to a phrase that says what to write. Returns "" for a known
/// word for which we have nothing, and nullopt for an unknown word.
using Meaning = std::function<std::optional<std::string_view>(std::string_view)>;

/// Choices for an enum that has a name_of().
template <class E>
Choices<E> choices(std::initializer_list<E> values) {
  Choices<E> result;
  for (const E value : values) result.emplace_back(name_of(value), value);
  return result;
}

enum class YamlKind { absent, scalar, list, map };

/// One mapping of a document while it is being read.
///
/// The first error is kept, and the getters after it do nothing, so a reader is a plain list of its keys.
/// Every getter makes its key a known key. If the key is absent, an optional getter leaves its variable at
/// the default. Errors are `bad_input` with file:line, the key, what was expected and what was found. Valid
/// only within the callback that received it.
class YamlMap {
 public:
  using Body = std::function<void(YamlMap&)>;

  void required(std::string_view key, std::string& out);
  void required(std::string_view key, bool& out);
  void required(std::string_view key, double& out, Range<double> range = {});
  void required(std::string_view key, std::int64_t& out, Range<std::int64_t> range = {});
  void required(std::string_view key, std::uint64_t& out, Range<std::uint64_t> range = {});
  void required(std::string_view key, int& out, Range<int> range = {});
  void required(std::string_view key, YamlScalar& out);
  void required(std::string_view key, std::vector<std::string>& out);
  void required(std::string_view key, std::vector<double>& out, Range<double> range = {});
  /// A mapping of free names to integers, such as `sizes`.
  void required(std::string_view key, std::map<std::string, std::int64_t>& out,
                Range<std::int64_t> range = {});
  /// Refuses a value that is not one of the choices, and suggests a choice: the one that `meaning` gives,
  /// else the one with the most similar spelling.
  template <class E>
  void required(std::string_view key, E& out, const Choices<E>& choices, const Meaning& meaning = {}) {
    std::vector<std::string_view> names;
    for (const auto& choice : choices) names.push_back(choice.first);
    if (const auto index = choose(key, names, meaning)) out = choices[*index].second;
  }

  /// Like required(), but `out` keeps its value if the key is absent.
  template <class T>
  void optional(std::string_view key, T& out) {
    if (kind(key) != YamlKind::absent) required(key, out);
  }
  template <class T>
  void optional(std::string_view key, T& out, RangeOf<T> range) {
    if (kind(key) != YamlKind::absent) required(key, out, range);
  }
  template <class E>
  void optional(std::string_view key, E& out, const Choices<E>& choices, const Meaning& meaning = {}) {
    if (kind(key) != YamlKind::absent) required(key, out, choices, meaning);
  }

  /// A nested mapping.
  void required_map(std::string_view key, const Body& body);
  void optional_map(std::string_view key, const Body& body);
  /// A list of mappings; `body` is called for each, in order.
  void required_maps(std::string_view key, const Body& body);
  void optional_maps(std::string_view key, const Body& body);

  /// Names all keys that are allowed here. Call it before reading, so that a misspelt key is refused before
  /// any error that its absence causes. Reading any other key afterwards throws std::logic_error.
  void only(const std::vector<std::string_view>& keys);

  /// The kind of the value at the key, which becomes a known key. Null (`key:`) counts as a scalar, but every
  /// getter refuses it.
  YamlKind kind(std::string_view key);

  /// The keys that are present, in order; for mappings with free names.
  std::vector<std::string> keys() const;

  /// "file:line" of the key, or of the mapping if the key is absent, for errors that are found after reading.
  std::string where(std::string_view key) const;

  /// Refuses the value of `key` with the caller's reason.
  void refuse(std::string_view key, std::string message, std::string hint = {});

  /// False after an error.
  bool ok() const;

  YamlMap(const YamlMap&) = delete;
  YamlMap& operator=(const YamlMap&) = delete;

 private:
  friend struct YamlReader;
  struct State;
  explicit YamlMap(State& state) : state_(state) {}
  std::optional<std::size_t> choose(std::string_view key, const std::vector<std::string_view>& names,
                                    const Meaning& meaning);
  State& state_;
};

/// A hint for an unknown key that resembles no known key; may be empty. `path` is for example "islands.size".
using YamlAdvice = std::function<std::string(const std::string& path)>;

/// Reads a document whose root is a mapping and returns its first error: broken syntax, a value that `body`
/// refused, or an unknown key. It also refuses more than one document, duplicate keys, anchors and aliases,
/// nesting deeper than 32 levels, more than 1 MiB, and bytes that are not UTF-8. `file` is used in messages
/// only. Thread-safe.
Status read_yaml(std::string_view text, const std::string& file, const YamlMap::Body& body,
                 const YamlAdvice& advice = {});

/// Writes a mapping key by key, in a form that read_yaml reads back. Texts are UTF-8. Not thread-safe.
class YamlWriter {
 public:
  YamlWriter();
  ~YamlWriter();
  YamlWriter(const YamlWriter&) = delete;
  YamlWriter& operator=(const YamlWriter&) = delete;

  /// Adds a comment after the last value.
  void comment(std::string_view text);

  void put(std::string_view key, std::string_view value);
  void put(std::string_view key, const char* value) { put(key, std::string_view(value)); }
  void put(std::string_view key, bool value);
  void put(
      std::string_view key,
      double value);  ///< Writes the shortest text that reads back as the same number. It must be finite.
  void put(std::string_view key, std::int64_t value);
  void put(std::string_view key, std::uint64_t value);
  void put(std::string_view key, int value) { put(key, static_cast<std::int64_t>(value)); }
  void put(std::string_view key, const std::vector<std::string>& values);
  void put(std::string_view key, const std::vector<double>& values);
  void put(std::string_view key, const std::map<std::string, std::int64_t>& values);

  /// A nested mapping, written by `body`.
  void map(std::string_view key, const std::function<void(YamlWriter&)>& body);

  /// A list of mappings, one for each item.
  template <class Items, class Body>
  void maps(std::string_view key, const Items& items, const Body& body) {
    begin_list(key);
    for (const auto& item : items) {
      begin_map();
      body(*this, item);
      end_map();
    }
    end_list();
  }

  /// Ends the document and returns it.
  std::string finish();

 private:
  void begin_list(std::string_view key);
  void end_list();
  void begin_map();
  void end_map();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsmith
