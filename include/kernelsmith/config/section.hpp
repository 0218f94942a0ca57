// Section: a mapping of run.yaml whose keys are listed once. The same list reads them, writes them, and
// describes them (`kernelsmith help run.yaml`, the tables of docs/).
//
//   void list(Section& io) {
//     io("workers", workers, {1, 1024}, "evaluations in flight");
//     io.map("limits", [&](Section& limits) { limits("confirm", confirm, "the best is measured again"); });
//   }
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <kernelsmith/config/yaml.hpp>

namespace kernelsmith {

namespace detail {
template <>
struct BoundOf<std::chrono::milliseconds> {
  using type = double;  // in seconds
};
}  // namespace detail

/// The largest limit of time.
inline constexpr double kDayS = 86'400;

/// The description of a key in the help and in docs/.
struct SettingText {
  std::string key;      ///< the path from the root, such as "islands.count"; for the items of a list
                        ///< "models[].name"
  std::string of;       ///< the `kind` of section that has this key; if empty, every kind
  std::string takes;    ///< such as "a whole number from 1 to 1024"
  std::string usual;    ///< its default; empty if it has none
  std::string meaning;  ///< in Markdown
};

/// The keys of one mapping while they are read, written or described. Reading an absent key leaves its
/// variable unchanged. Calls return whether the key was present. Valid only within the callback that received
/// it.
class Section {
 public:
  using Body = std::function<void(Section&)>;

  explicit Section(YamlMap& in) : in_(&in) {}
  explicit Section(YamlWriter& out) : out_(&out) {}
  explicit Section(std::vector<SettingText>& texts) : texts_(&texts) {}

  bool operator()(std::string_view key, bool& value, std::string_view meaning);
  bool operator()(std::string_view key, std::string& value, std::string_view meaning);
  bool operator()(std::string_view key, std::filesystem::path& value, std::string_view meaning);
  bool operator()(std::string_view key, std::vector<std::string>& value, std::string_view meaning);
  bool operator()(std::string_view key, std::vector<double>& value, std::string_view meaning);

  /// A number, or a time in seconds.
  template <class T>
  bool operator()(std::string_view key, T& value, RangeOf<T> range, std::string_view meaning) {
    if constexpr (std::is_same_v<T, std::chrono::milliseconds>) {
      double seconds = std::chrono::duration<double>(value).count();
      const bool given = number(key, seconds, range, meaning);
      if (given) value = T(static_cast<typename T::rep>(seconds * 1000));
      return given;
    } else {
      using Wide =
          std::conditional_t<std::floating_point<T>, double,
                             std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>>;
      auto wide = static_cast<Wide>(value);
      const bool given = number(key, wide, Range<Wide>{range.low, range.high}, meaning);
      if (given) value = static_cast<T>(wide);
      return given;
    }
  }

  /// One of several words. For hints, `meant` maps words of other programs to ours.
  template <class E>
  requires(!std::is_arithmetic_v<E> || std::is_same_v<E, bool>) bool operator()(std::string_view key,
                                                                                E& value,
                                                                                const Choices<E>& choices,
                                                                                std::string_view meaning,
                                                                                const Meaning& meant = {}) {
    std::vector<std::string_view> names;
    std::size_t chosen = 0;
    for (const auto& [name, choice] : choices) {
      if (choice == value) chosen = names.size();
      names.push_back(name);
    }
    const bool given = word(key, chosen, names, meaning, meant);
    if (given) value = choices[chosen].second;
    return given;
  }

  /// An optional key: it is written if it has a value.
  template <class T>
  bool maybe(std::string_view key, std::optional<T>& value, RangeOf<T> range, std::string_view meaning) {
    return maybe(value, [&](T& held) { return (*this)(key, held, range, meaning); });
  }
  template <class E>
  bool maybe(std::string_view key, std::optional<E>& value, const Choices<E>& choices,
             std::string_view meaning) {
    return maybe(value, [&](E& held) { return (*this)(key, held, choices, meaning); });
  }

  /// Refuses a mapping without the key.
  void require(std::string_view key) {
    std::string value;
    if (in_ && !given(key)) in_->required(key, value);
  }

  /// A key that is required while `value` is empty. The new value must not be empty.
  template <class T>
  bool needed(std::string_view key, T& value, std::string_view meaning) {
    if (value.empty()) require(key);
    const bool read = (*this)(key, value, meaning);
    if (in_ && value.empty()) refuse(key, "'" + path_ + std::string(key) + "' is empty");
    by_default("needed");
    return read;
  }

  /// A required number.
  template <class T>
  void needed(std::string_view key, T& value, RangeOf<T> range, std::string_view meaning) {
    require(key);
    (*this)(key, value, range, meaning);
    by_default("needed");
  }

  /// A key that is written unless its value is empty.
  template <class T>
  bool unless_empty(std::string_view key, T& value, std::string_view meaning) {
    return (!out_ || !value.empty()) && (*this)(key, value, meaning);
  }

  /// A path. It is written as an absolute path; an empty path stays empty.
  bool kept_path(std::string_view key, std::string& value, std::string_view meaning);

  /// A required path.
  bool needed_path(std::string_view key, std::string& value, std::string_view meaning) {
    if (in_) return needed(key, value, meaning);
    kept_path(key, value, meaning);
    by_default("needed");
    return false;
  }

  void map(std::string_view key, const Body& body);

  /// A list of mappings, which replaces `items`. `usual` describes its default in words.
  template <class Item, class Each>
  bool maps(std::string_view key, std::vector<Item>& items, std::string_view usual, std::string_view meaning,
            const Each& each) {
    if (texts_) {
      tell(key, "a list of mappings", std::string(usual), meaning);
      Item item{};
      Section section = within(std::string(key) + "[]");
      each(section, item);
    }
    if (out_)
      out_->maps(key, items, [&](YamlWriter& out, const Item& item) {
        Item copy = item;
        Section section(out);
        each(section, copy);
      });
    if (!given(key)) return false;
    items.clear();
    in_->required_maps(key, [&](YamlMap& in) {
      Section section = within(std::string(key) + "[" + std::to_string(items.size()) + "]", in);
      each(section, items.emplace_back());
    });
    return true;
  }

  /// A key with a form of its own. `read` is called if the key is present. `write` is always called and
  /// decides whether to write it.
  void other(std::string_view key, std::string_view takes, std::string_view usual, std::string_view meaning,
             const std::function<void(YamlMap&)>& read, const std::function<void(YamlWriter&)>& write);

  /// Describes the default of the last listed key in words.
  void by_default(std::string_view usual) {
    if (texts_) texts_->back().usual = usual;
  }
  /// Sets SettingText::of for the keys that follow.
  void of(std::string_view kind) { kind_ = kind; }

  /// When reading: refuses the value. Does nothing otherwise.
  void refuse(std::string_view key, std::string message, std::string hint = {}) {
    if (in_) in_->refuse(key, std::move(message), std::move(hint));
  }
  /// Returns false after a refusal.
  bool ok() const { return !in_ || in_->ok(); }
  bool given(std::string_view key) { return in_ && in_->kind(key) != YamlKind::absent; }

  bool writes() const { return out_ != nullptr; }
  bool tells() const { return texts_ != nullptr; }
  YamlMap* reader() const { return in_; }

  /// From now on adds each key that is read to `said`. A nested key is added as "fleet.nats".
  void note_in(std::set<std::string>& said) {
    said_ = &said;
    said_below_ = path_.size();
  }

 private:
  bool number(std::string_view key, double& value, Range<double> range, std::string_view meaning);
  bool number(std::string_view key, std::int64_t& value, Range<std::int64_t> range, std::string_view meaning);
  bool number(std::string_view key, std::uint64_t& value, Range<std::uint64_t> range,
              std::string_view meaning);
  bool word(std::string_view key, std::size_t& chosen, const std::vector<std::string_view>& names,
            std::string_view meaning, const Meaning& meant);
  template <class T>
  bool maybe(std::optional<T>& value, const auto& list) {
    if (out_ && !value) return false;
    T held = value.value_or(T{});
    const bool given = list(held);
    if (given) value = held;
    if (!value) by_default("");
    return given;
  }
  template <class T, class... Limits>
  bool one(std::string_view key, T& value, std::string_view takes, std::string_view meaning,
           const Limits&... limits);
  bool note(std::string_view key);
  void tell(std::string_view key, std::string_view takes, std::string usual, std::string_view meaning);
  /// The section of the mapping at the key.
  Section within(const std::string& key) const;
  Section within(const std::string& key, YamlMap& in) const;

  YamlMap* in_ = nullptr;
  YamlWriter* out_ = nullptr;
  std::vector<SettingText>* texts_ = nullptr;
  std::string path_, kind_;  ///< the path ends in a dot, or is empty
  std::set<std::string>* said_ = nullptr;
  std::size_t said_below_ = 0;
};

}  // namespace kernelsmith
