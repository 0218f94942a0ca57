#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <kernelsmith/config/yaml.hpp>
#include <kernelsmith/core/nearest_name.hpp>
#include <kernelsmith/core/number_text.hpp>

#include "yaml_document.hpp"

namespace kernelsmith {

using detail::YamlNode;

/// A mapping's place in its document; `error` is shared by the whole document.
struct YamlMap::State {
  const YamlNode& node;
  std::string path;  ///< such as "tensors[1].", put before a key
  const std::string& file;
  std::optional<Error>& error;
  const YamlAdvice& advice;
  std::vector<std::string> known = {};
  bool complete = false;  ///< `known` has all allowed keys

  const detail::YamlEntry* find(std::string_view key) {
    if (std::ranges::find(known, key) == known.end()) {
      if (complete) throw std::logic_error("only() lacks the key '" + path + std::string(key) + "'");
      known.emplace_back(key);
    }
    const auto found = std::ranges::find(node.entries, key, &detail::YamlEntry::key);
    return found == node.entries.end() ? nullptr : &*found;
  }

  std::string place(std::size_t line) const { return file + ":" + std::to_string(line); }

  void refuse(std::size_t line, std::string message, std::string hint = {}) {
    if (!error) error = fail(ErrorCode::bad_input, std::move(message), place(line), std::move(hint));
  }

  /// A present key that was not read yet and that may be a misspelling of this one.
  const detail::YamlEntry* misspelt(std::string_view key) const {
    const auto found = std::ranges::find_if(node.entries, [&](const detail::YamlEntry& entry) {
      return std::ranges::find(known, entry.key) == known.end() && nearest_name(entry.key, {&key, 1});
    });
    return found == node.entries.end() ? nullptr : &*found;
  }

  void refuse_missing(std::string_view key) {
    const std::string missing = "key '" + path + std::string(key) + "' is missing";
    const detail::YamlEntry* meant = misspelt(key);
    if (!meant) return refuse(node.line, missing);
    refuse(meant->line, missing + ", and '" + meant->key + "' stands here",
           "did you mean " + std::string(key) + "?");
  }

  /// The value of a required key; null after any error.
  const YamlNode* value(std::string_view key) {
    if (error) return nullptr;
    const detail::YamlEntry* entry = find(key);
    if (!entry) refuse_missing(key);
    return entry ? &entry->value : nullptr;
  }

  void refuse_value(const std::string& name, const YamlNode& found, const std::string& expected,
                    std::string hint = {});
  void refuse_unknown();
};

namespace {

std::string described(const YamlNode& node) {
  constexpr std::size_t kLongestShown = 60;
  if (node.kind == YamlKind::list) return "a list";
  if (node.kind == YamlKind::map) return "a mapping";
  if (node.null) return "nothing";
  if (node.text.size() > kLongestShown) return "'" + node.text.substr(0, kLongestShown) + "...'";
  return "'" + node.text + "'";
}

std::string printed(double value) { return number_text(value); }
template <std::integral T>
std::string printed(T value) {
  return std::to_string(value);
}

/// Reads only decimal numbers, because YAML versions disagree on what 010 and 0x10 are.
template <class T>
std::optional<T> number_at(const YamlNode& node, Range<T> range) {
  if (node.kind != YamlKind::scalar || node.quoted || node.null) return std::nullopt;
  const std::string& text = node.text;
  const std::size_t first_digit = text.starts_with('-') ? 1 : 0;
  const bool octal_look = text.size() > first_digit + 1 && text[first_digit] == '0' &&
                          text[first_digit + 1] >= '0' && text[first_digit + 1] <= '9';
  if (octal_look) return std::nullopt;
  const auto value = number_in<T>(text);
  if constexpr (std::floating_point<T>) {
    if (value && !std::isfinite(*value)) return std::nullopt;
  }
  return value >= range.low && value <= range.high ? value : std::nullopt;
}

/// Units of time, in seconds.
constexpr std::pair<std::string_view, double> kTimes[] = {{"ms", 1e-3},    {"s", 1},    {"sec", 1},
                                                          {"seconds", 1},  {"m", 60},   {"min", 60},
                                                          {"minutes", 60}, {"h", 3600}, {"hours", 3600}};

/// A hint for a misspelt number: "40s", "2m" (keys that end in _s are seconds), "1_000".
std::string number_hint(std::string_view name, const YamlNode& node) {
  if (node.quoted) return "write a number without quotation marks";
  if (node.kind != YamlKind::scalar) return "write one number";
  if (node.null) return "write a number after the colon, or leave the key out";
  std::string text = node.text;
  std::erase_if(text, [](char c) { return c == '_' || c == ','; });
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return "a number is written with digits";
  std::string_view unit(end, text.data() + text.size());
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.empty()) return text.size() < node.text.size() ? "write " + text : "";
  for (const auto& [word, seconds] : kTimes)
    if (unit == word && name.ends_with("_s"))
      return "in seconds, without a unit: " + printed(value * seconds);
  return "a number without a unit: " + printed(value);
}

std::string bool_hint(const YamlNode& node) {
  std::string text = node.text;
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* yes : {"true", "yes", "on", "1"})
    if (text == yes) return "write true, without quotation marks";
  for (const char* no : {"false", "no", "off", "0"})
    if (text == no) return "write false, without quotation marks";
  return "";
}

/// A hint for a name that is not a choice.
std::string meant_by(std::string_view name, const std::vector<std::string_view>& names,
                     const Meaning& meaning) {
  auto word = meaning ? meaning(name) : std::nullopt;
  if (!word) word = nearest_name(name, names);
  if (!word) return "";
  if (std::ranges::find(names, *word) != names.end()) return "did you mean " + std::string(*word) + "?";
  return word->find(' ') == word->npos ? "" : std::string(*word);
}

std::string indexed(std::string_view key, std::size_t index) {
  return std::string(key) + "[" + std::to_string(index) + "]";
}

}  // namespace

template <class T>
std::string words_of(Range<T> range) {
  std::string what = std::integral<T> ? "a whole number" : "a number";
  const bool to = range.high < std::numeric_limits<T>::max();
  const bool from = range.low > std::numeric_limits<T>::lowest() || (std::unsigned_integral<T> && to);
  if (from && to) return what + " from " + printed(range.low) + " to " + printed(range.high);
  if (from) return what + " of at least " + printed(range.low);
  if (to) return what + " of at most " + printed(range.high);
  return what;
}
template std::string words_of(Range<double>);
template std::string words_of(Range<int>);
template std::string words_of(Range<std::int64_t>);
template std::string words_of(Range<std::uint64_t>);

void YamlMap::State::refuse_value(const std::string& name, const YamlNode& found, const std::string& expected,
                                  std::string hint) {
  refuse(found.line, "'" + path + name + "' must be " + expected + ", found " + described(found),
         std::move(hint));
}

void YamlMap::State::refuse_unknown() {
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const detail::YamlEntry& entry : node.entries) {
    if (std::ranges::find(known, entry.key) != known.end()) continue;
    std::string hint;
    if (advice && !nearest_name(entry.key, names)) hint = advice(path + entry.key);
    refuse(entry.line, "unknown key '" + path + entry.key + "'",
           hint.empty() ? name_hint(entry.key, names) : hint);
  }
}

/// The steps that all getters share.
struct YamlReader {
  static void read(const YamlNode& node, std::string path, const std::string& file,
                   std::optional<Error>& error, const YamlAdvice& advice, const YamlMap::Body& body) {
    YamlMap::State state{node, std::move(path), file, error, advice};
    YamlMap map(state);
    body(map);
    if (!error) state.refuse_unknown();
  }

  /// Refuses a value that is not a mapping. Lists the expected keys by calling `body` with an empty mapping.
  static void refuse_no_map(YamlMap::State& parent, const std::string& name, const YamlNode& node,
                            const YamlMap::Body& body) {
    parent.refuse_value(name, node, "a mapping", "write {KEY: VALUE}, or KEY: VALUE lines below it");
    YamlNode empty;
    empty.kind = YamlKind::map;
    std::optional<Error> lacks;
    YamlMap::State state{empty, {}, parent.file, lacks, parent.advice};
    YamlMap map(state);
    body(map);
    if (state.known.empty()) return;
    if (lacks && node.kind == YamlKind::scalar && !node.null)
      parent.error->hint = "write {" + state.known.front() + ": " + node.text + "}";
    std::string& hint = parent.error->hint += "; its keys are ";
    for (const std::string& key : state.known) hint += (&key == &state.known.front() ? "" : ", ") + key;
  }

  static void read_nested(YamlMap::State& parent, const std::string& name, const YamlNode& node,
                          const YamlMap::Body& body) {
    if (node.kind != YamlKind::map) return refuse_no_map(parent, name, node, body);
    read(node, parent.path + name + ".", parent.file, parent.error, parent.advice, body);
  }

  template <class T>
  static void read_number(YamlMap::State& state, const std::string& name, const YamlNode& node, T& out,
                          Range<T> range) {
    const auto number = number_at(node, range);
    if (!number) return state.refuse_value(name, node, words_of(range), number_hint(name, node));
    out = *number;
  }

  template <class T>
  static void read_number(YamlMap::State& state, std::string_view key, T& out, Range<T> range) {
    if (const YamlNode* node = state.value(key)) read_number(state, std::string(key), *node, out, range);
  }

  static void read_text(YamlMap::State& state, const std::string& name, const YamlNode& node,
                        std::string& out) {
    if (node.kind != YamlKind::scalar || node.null) {
      return state.refuse_value(name, node, "a text",
                                node.null ? "write it after the colon; '' is an empty one"
                                          : "put it in quotation marks if it begins with a bracket");
    }
    out = node.text;
  }

  /// Reads every item of a list; replaces `out` only if all are valid.
  template <class T, class ReadItem>
  static void read_list(YamlMap::State& state, std::string_view key, std::vector<T>& out,
                        const ReadItem& read_item) {
    const YamlNode* node = state.value(key);
    if (!node) return;
    if (node->kind != YamlKind::list) {
      return state.refuse_value(std::string(key), *node, "a list",
                                "write [" + (node->kind == YamlKind::scalar ? node->text : "...") + "]");
    }
    std::vector<T> items(node->items.size());
    for (std::size_t i = 0; i < items.size() && !state.error; ++i) {
      read_item(indexed(key, i), node->items[i], items[i]);
    }
    if (!state.error) out = std::move(items);
  }
};

void YamlMap::required(std::string_view key, std::string& out) {
  if (const YamlNode* node = state_.value(key)) YamlReader::read_text(state_, std::string(key), *node, out);
}

void YamlMap::required(std::string_view key, bool& out) {
  const YamlNode* node = state_.value(key);
  if (!node) return;
  const bool plain = node->kind == YamlKind::scalar && !node->quoted;
  if (!plain || (node->text != "true" && node->text != "false")) {
    return state_.refuse_value(std::string(key), *node, "true or false", bool_hint(*node));
  }
  out = node->text == "true";
}

void YamlMap::required(std::string_view key, double& out, Range<double> range) {
  YamlReader::read_number(state_, key, out, range);
}
void YamlMap::required(std::string_view key, std::int64_t& out, Range<std::int64_t> range) {
  YamlReader::read_number(state_, key, out, range);
}
void YamlMap::required(std::string_view key, std::uint64_t& out, Range<std::uint64_t> range) {
  YamlReader::read_number(state_, key, out, range);
}
void YamlMap::required(std::string_view key, int& out, Range<int> range) {
  YamlReader::read_number(state_, key, out, range);
}

void YamlMap::required(std::string_view key, YamlScalar& out) {
  std::string text;
  required(key, text);
  const YamlNode* const node = ok() ? state_.value(key) : nullptr;
  if (!node) return;
  out = text;
  if (node->quoted) return;
  if (text == "true" || text == "false")
    out = text == "true";
  else if (const auto whole = number_at(*node, Range<std::int64_t>{}))
    out = *whole;
  else if (const auto number = number_at(*node, Range<double>{}))
    out = *number;
}

void YamlMap::required(std::string_view key, std::vector<std::string>& out) {
  YamlReader::read_list(state_, key, out, [this](const auto& name, const YamlNode& node, std::string& item) {
    YamlReader::read_text(state_, name, node, item);
  });
}

void YamlMap::required(std::string_view key, std::vector<double>& out, Range<double> range) {
  YamlReader::read_list(state_, key, out, [&](const auto& name, const YamlNode& node, double& item) {
    YamlReader::read_number(state_, name, node, item, range);
  });
}

void YamlMap::required(std::string_view key, std::map<std::string, std::int64_t>& out,
                       Range<std::int64_t> range) {
  std::map<std::string, std::int64_t> numbers;
  required_map(key, [&](YamlMap& map) {
    for (const std::string& name : map.keys()) map.required(name, numbers[name], range);
  });
  if (ok()) out = std::move(numbers);
}

void YamlMap::required_map(std::string_view key, const Body& body) {
  if (const YamlNode* node = state_.value(key))
    YamlReader::read_nested(state_, std::string(key), *node, body);
}

void YamlMap::optional_map(std::string_view key, const Body& body) {
  if (kind(key) != YamlKind::absent) required_map(key, body);
}

void YamlMap::required_maps(std::string_view key, const Body& body) {
  const YamlNode* node = state_.value(key);
  if (!node) return;
  if (node->kind != YamlKind::list)
    return state_.refuse_value(std::string(key), *node, "a list of mappings", "write [{KEY: VALUE}, ...]");
  for (std::size_t i = 0; i < node->items.size() && !state_.error; ++i) {
    YamlReader::read_nested(state_, indexed(key, i), node->items[i], body);
  }
}

void YamlMap::optional_maps(std::string_view key, const Body& body) {
  if (kind(key) != YamlKind::absent) required_maps(key, body);
}

std::optional<std::size_t> YamlMap::choose(std::string_view key, const std::vector<std::string_view>& names,
                                           const Meaning& meaning) {
  std::string name;
  required(key, name);
  if (!ok()) return std::nullopt;
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string list;
  for (const std::string_view candidate : names) list += (list.empty() ? "" : ", ") + std::string(candidate);
  state_.refuse_value(std::string(key), *state_.value(key), "one of " + list, meant_by(name, names, meaning));
  return std::nullopt;
}

void YamlMap::only(const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) state_.find(key);
  state_.complete = true;
  state_.refuse_unknown();
}

YamlKind YamlMap::kind(std::string_view key) {
  const detail::YamlEntry* entry = state_.find(key);
  return entry ? entry->value.kind : YamlKind::absent;
}

std::vector<std::string> YamlMap::keys() const {
  std::vector<std::string> names;
  for (const detail::YamlEntry& entry : state_.node.entries) names.push_back(entry.key);
  return names;
}

std::string YamlMap::where(std::string_view key) const {
  const auto found = std::ranges::find(state_.node.entries, key, &detail::YamlEntry::key);
  return state_.place(found == state_.node.entries.end() ? state_.node.line : found->line);
}

void YamlMap::refuse(std::string_view key, std::string message, std::string hint) {
  if (ok()) state_.error = fail(ErrorCode::bad_input, std::move(message), where(key), std::move(hint));
}

bool YamlMap::ok() const { return !state_.error; }

Status read_yaml(std::string_view text, const std::string& file, const YamlMap::Body& body,
                 const YamlAdvice& advice) {
  const auto root = detail::parse_yaml(text, file);
  if (!root) return root.error();
  if (root->kind != YamlKind::map) {
    return fail(ErrorCode::bad_input, "expected 'key: value' lines, found " + described(*root),
                file + ":" + std::to_string(root->line));
  }
  std::optional<Error> error;
  YamlReader::read(*root, {}, file, error, advice, body);
  if (error) return *error;
  return {};
}

}  // namespace kernelsmith
