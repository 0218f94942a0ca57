// Converts values to JSON and back: Codec<T> for plain values and containers; records list their fields once
// for both directions. Private: only this file combines nlohmann/json with our types.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <kernelsmith/config/text.hpp>
#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/nearest_name.hpp>

namespace kernelsmith::detail {

using Json = nlohmann::json;

/// The place of a value in its document.
struct JsonPath {
  const JsonPath* parent = nullptr;
  std::string_view key;
  std::size_t index = 0;  ///< the place in a list, if `key` is empty

  /// Such as "report.shapes[2].error".
  std::string text() const;
};

/// An error that ends decoding. Thrown and caught within this component only.
struct JsonRefusal {
  std::string message, where, hint;
};

[[noreturn]] void refuse(const JsonPath& path, std::string message, std::string hint = {});
/// The message "expected EXPECTED, found WHAT".
[[noreturn]] void refuse_type(const JsonPath& path, std::string_view expected, const Json& found);

/// The document of a text. Refuses broken syntax, a repeated key and nesting deeper than 64 levels.
Json parse_document(std::string_view text);

/// This mark begins a text in base64: one that is not UTF-8, or that would itself begin with the mark.
inline constexpr std::string_view kBase64Mark = "base64:";
std::string encode_text(std::string_view bytes);
std::string decode_text(const std::string& text, const JsonPath& path);

template <class T>
struct Codec;

/// Records list their fields: `static void list(auto& io, auto& value) { io("name", value.name); … }`.
template <class T>
struct Fields;

class ObjectWriter {
 public:
  explicit ObjectWriter(Json& object) : object_(object) { object_ = Json::object(); }

  template <class T>
  void operator()(const char* key, const T& value) {
    object_[key] = Codec<T>::encode(value);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) object_[key] = Codec<T>::encode(*value);
  }
  /// Omits a value equal to T{}.
  template <class T>
  void defaulted(const char* key, const T& value) {
    if (value != T{}) object_[key] = Codec<T>::encode(value);
  }

 private:
  Json& object_;
};

class ObjectReader {
 public:
  ObjectReader(const Json& object, const JsonPath& path);

  template <class T>
  void operator()(const char* key, T& value) {
    const Json* found = find(key);
    if (!found) refuse(path_, "key '" + std::string(key) + "' is missing");
    value = Codec<T>::decode(*found, JsonPath{&path_, key, 0});
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    const Json* found = find(key);
    if (found) value = Codec<T>::decode(*found, JsonPath{&path_, key, 0});
  }
  template <class T>
  void defaulted(const char* key, T& value) {
    const Json* found = find(key);
    if (found) value = Codec<T>::decode(*found, JsonPath{&path_, key, 0});
  }
  /// For types without an empty value.
  template <class T>
  T get(const char* key) {
    const Json* found = find(key);
    if (!found) refuse(path_, "key '" + std::string(key) + "' is missing");
    return Codec<T>::decode(*found, JsonPath{&path_, key, 0});
  }

  /// Returns the value of the key, or null, and marks the key as known.
  const Json* find(const char* key);

  /// Refuses unknown keys.
  void finish() const;

 private:
  const Json& object_;
  const JsonPath& path_;
  std::vector<std::string_view> known_;
};

template <>
struct Codec<bool> {
  static Json encode(bool value) { return value; }
  static bool decode(const Json& in, const JsonPath& path) {
    if (!in.is_boolean()) refuse_type(path, "true or false", in);
    return in.get<bool>();
  }
};

template <std::unsigned_integral T>
struct Codec<T> {
  static Json encode(T value) { return value; }
  static T decode(const Json& in, const JsonPath& path) {
    if (!in.is_number_unsigned()) refuse_type(path, "a whole number from 0", in);
    const auto value = in.get<std::uint64_t>();
    if (value > std::numeric_limits<T>::max()) refuse_type(path, "a smaller number", in);
    return static_cast<T>(value);
  }
};

/// Reports may contain numbers that are not finite, which JSON lacks.
template <>
struct Codec<double> {
  static Json encode(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  }
  static double decode(const Json& in, const JsonPath& path) {
    if (in == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (in == "inf") return std::numeric_limits<double>::infinity();
    if (in == "-inf") return -std::numeric_limits<double>::infinity();
    if (!in.is_number()) refuse_type(path, "a number", in);
    return in.get<double>();
  }
};

template <>
struct Codec<std::string> {
  static Json encode(const std::string& value) { return encode_text(value); }
  static std::string decode(const Json& in, const JsonPath& path) {
    if (!in.is_string()) refuse_type(path, "a text", in);
    return decode_text(in.get_ref<const std::string&>(), path);
  }
};

template <>
struct Codec<Digest> {
  static Json encode(const Digest& value) { return value.hex(); }
  static Digest decode(const Json& in, const JsonPath& path) {
    const auto digest = Digest::from_hex(in.is_string() ? in.get_ref<const std::string&>() : std::string());
    if (!digest) refuse_type(path, "64 lower-case hexadecimal digits", in);
    return *digest;
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static Json encode(const std::vector<T>& values) {
    Json out = Json::array();
    for (const T& value : values) out.push_back(Codec<T>::encode(value));
    return out;
  }
  static std::vector<T> decode(const Json& in, const JsonPath& path) {
    if (!in.is_array()) refuse_type(path, "a list", in);
    std::vector<T> values;
    values.reserve(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      values.push_back(Codec<T>::decode(in[i], JsonPath{&path, {}, i}));
    }
    return values;
  }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static Json encode(const std::map<std::string, T>& values) {
    Json out = Json::object();
    for (const auto& [name, value] : values) out[encode_text(name)] = Codec<T>::encode(value);
    return out;
  }
  static std::map<std::string, T> decode(const Json& in, const JsonPath& path) {
    if (!in.is_object()) refuse_type(path, "an object", in);
    std::map<std::string, T> values;
    for (const auto& [name, value] : in.items()) {
      const JsonPath inner{&path, name, 0};
      if (!values.emplace(decode_text(name, inner), Codec<T>::decode(value, inner)).second) {
        refuse(inner, "the same name twice, in two spellings");
      }
    }
    return values;
  }
};

/// An enum by its name.
template <class E, std::optional<E> (*from)(std::string_view)>
struct NameCodec {
  static Json encode(E value) { return std::string(name_of(value)); }
  static E decode(const Json& in, const JsonPath& path) {
    if (!in.is_string()) refuse_type(path, "a name", in);
    const auto value = from(in.get_ref<const std::string&>());
    if (!value) refuse(path, "unknown name '" + in.get_ref<const std::string&>() + "'");
    return *value;
  }
};

/// A strongly typed identity by its number.
template <class Id>
requires std::unsigned_integral<decltype(Id::value)>
struct Codec<Id> {
  static Json encode(Id id) { return id.value; }
  static Id decode(const Json& in, const JsonPath& path) {
    return {Codec<decltype(Id::value)>::decode(in, path)};
  }
};

/// A record, by its Fields.
template <class T>
struct RecordCodec {
  static Json encode(const T& value) {
    Json out;
    ObjectWriter writer(out);
    Fields<T>::list(writer, value);
    return out;
  }
  static T decode(const Json& in, const JsonPath& path) {
    ObjectReader reader(in, path);
    T value;
    Fields<T>::list(reader, value);
    reader.finish();
    return value;
  }
};

template <class T>
concept HasFields = requires(ObjectWriter& writer, const T& value) {
  Fields<T>::list(writer, value);
};

template <HasFields T>
struct Codec<T> : RecordCodec<T> {};

}  // namespace kernelsmith::detail
