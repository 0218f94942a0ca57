#include <array>
#include <cstring>

#include <openssl/sha.h>

#include <kernelsmith/core/digest.hpp>

namespace kernelsmith {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Digest::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<Digest> Digest::from_hex(std::string_view text) {
  Digest digest;
  if (text.size() != digest.bytes.size() * 2) return std::nullopt;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

Digest digest_of(std::string_view bytes) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.bytes.data());
  return digest;
}

DigestBuilder& DigestBuilder::add(std::string_view field) {
  add(static_cast<std::uint64_t>(field.size()));
  buffer_ += field;
  return *this;
}

DigestBuilder& DigestBuilder::add(std::uint64_t number) {
  // Little-endian, so that a digest means the same on every machine.
  std::array<char, sizeof number> bytes{};
  for (char& byte : bytes) {
    byte = static_cast<char>(number & 0xff);
    number >>= 8;
  }
  buffer_.append(bytes.data(), bytes.size());
  return *this;
}

Digest DigestBuilder::finish() const { return digest_of(buffer_); }

}  // namespace kernelsmith

std::size_t std::hash<kernelsmith::Digest>::operator()(const kernelsmith::Digest& digest) const noexcept {
  std::size_t value = 0;
  std::memcpy(&value, digest.bytes.data(), sizeof value);
  return value;
}
