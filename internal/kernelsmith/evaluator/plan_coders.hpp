// Writer and Reader: they write and read the plan's file format and the messages between the processes that
// use plans. Numbers are little-endian. A count or a length is a u32 before its elements. An enumeration or a
// flag is one byte. A function fields() gives the order of the fields for both classes; plan_fields.hpp has
// those of a plan.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::plan {

template <class T>
concept Enumeration = std::is_enum_v<T>;

class Writer {
 public:
  template <Enumeration T>
  void number(T value) {
    number(static_cast<std::uint8_t>(value));
  }

  template <std::integral T>
  void number(T value) {
    auto rest = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof rest; ++i) {
      bytes_.push_back(static_cast<std::byte>(rest & 0xffU));
      if constexpr (sizeof rest > 1) rest >>= 8;
    }
  }

  void flag(bool value) { number<std::uint8_t>(value ? 1 : 0); }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void magic(std::string_view text) { append(std::as_bytes(std::span(text))); }
  void text(const std::string& value, std::size_t) { blob(std::as_bytes(std::span(value))); }
  void bytes(const std::vector<std::byte>& value, std::size_t) { blob(value); }

  template <class T>
  void list(const std::vector<T>& values, std::size_t) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) fields(*this, value);
  }

  void pairs(const std::map<int, int>& values, std::size_t) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const auto& [key, value] : values) {
      number(key);
      number(value);
    }
  }

  template <class T>
  void optional(const std::optional<T>& value) {
    flag(value.has_value());
    if (value) fields(*this, *value);
  }

  /// The alternative's index, then the alternative.
  template <class... T>
  void choice(const std::variant<T...>& value) {
    number(static_cast<std::uint8_t>(value.index()));
    std::visit([this](const auto& alternative) { fields(*this, alternative); }, value);
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(std::span<const std::byte> value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }
  void blob(std::span<const std::byte> value) {
    number(static_cast<std::uint32_t>(value.size()));
    append(value);
  }

  std::vector<std::byte> bytes_;
};

/// Reads untrusted data. After the first error all reads return zero or empty, and finish() returns the
/// error. It allocates in proportion to the actual bytes, whatever the counts in them say.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <Enumeration T>
  void number(T& value) {
    std::uint8_t read = 0;
    number(read);
    value = static_cast<T>(read);
  }

  template <std::integral T>
  void number(T& value) {
    std::make_unsigned_t<T> read = 0;
    const auto part = next(sizeof read);
    for (std::size_t i = 0; i < part.size(); ++i)
      read = static_cast<std::make_unsigned_t<T>>(read | static_cast<std::make_unsigned_t<T>>(part[i])
                                                             << (8 * i));
    value = static_cast<T>(read);
  }

  void flag(bool& value);
  void real(double& value);
  void magic(std::string_view text);
  void text(std::string& value, std::size_t most);
  void bytes(std::vector<std::byte>& value, std::size_t most);
  void pairs(std::map<int, int>& values, std::size_t most);

  template <class T>
  void list(std::vector<T>& values, std::size_t most) {
    const std::size_t count = length(most);
    for (std::size_t i = 0; i < count && !error_; ++i) fields(*this, values.emplace_back());
  }

  template <class T>
  void optional(std::optional<T>& value) {
    bool given = false;
    flag(given);
    if (given) fields(*this, value.emplace());
  }

  template <class... T>
  void choice(std::variant<T...>& value) {
    std::uint8_t index = 0;
    number(index);
    if (index >= sizeof...(T)) return refuse("no kind of operation has the number " + std::to_string(index));
    emplace(value, index, std::index_sequence_for<T...>());
  }

  /// Records that the last read value is invalid.
  void refuse(std::string what);

  /// Succeeds if everything was valid and no bytes are left.
  Status finish();

 private:
  template <class Variant, std::size_t... Index>
  void emplace(Variant& value, std::size_t index, std::index_sequence<Index...>) {
    ((Index == index ? fields(*this, value.template emplace<Index>()) : void()), ...);
  }

  /// The next `count` bytes; empty after an error or if there are fewer.
  std::span<const std::byte> next(std::size_t count);
  /// A count of bytes, or of elements of at least one byte each. 0 after an error.
  std::size_t length(std::size_t most);

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;    ///< the next byte
  std::size_t last_ = 0;  ///< where the value that was read last begins
  std::optional<Error> error_;
};

template <class T>
std::vector<std::byte> encoded(const T& value) {
  Writer writer;
  fields(writer, value);
  return writer.take();
}

/// The value that the bytes encode; empty if they do not encode a T.
template <class T>
std::optional<T> decoded(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  std::optional<T> value(std::in_place);
  fields(reader, *value);
  if (!reader.finish()) value.reset();
  return value;
}

}  // namespace kernelsmith::plan
