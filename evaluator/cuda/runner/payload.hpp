// Payload: the content of a message between judge and runner. Both come from the same build and trust each
// other, but truncated messages are detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <kernelsmith/core/result.hpp>

namespace kernelsmith::cuda {

class PayloadWriter {
 public:
  template <class T>
  PayloadWriter& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  PayloadWriter& put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  PayloadWriter& put_text(const std::string& text) {
    put(std::uint64_t{text.size()});
    return put_bytes(std::as_bytes(std::span(text)));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads in the order of writing. Past the end it returns zeros, and complete() is false.
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    const auto bytes = take_bytes(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string take_text() {
    const auto size = take<std::uint64_t>();
    const auto bytes = take_bytes(static_cast<std::size_t>(size));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::span<const std::byte> take_bytes(std::size_t count) {
    if (count > left_.size()) {
      short_ = true;
      left_ = {};
      return {};
    }
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  std::span<const std::byte> rest() { return take_bytes(left_.size()); }
  bool complete() const { return !short_; }

 private:
  std::span<const std::byte> left_;
  bool short_ = false;
};

}  // namespace kernelsmith::cuda
