#include "text.hpp"

#include <cstdint>
#include <limits>

#include <openssl/evp.h>

namespace kernelsmith::detail {
namespace {

const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

/// The bounds of a sequence's second byte, which is where overlong forms, surrogates and too large code
/// points show.
bool second_byte_fits(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0 && second <= 0xBF;
    case 0xED:
      return second >= 0x80 && second <= 0x9F;
    case 0xF0:
      return second >= 0x90 && second <= 0xBF;
    case 0xF4:
      return second >= 0x80 && second <= 0x8F;
    default:
      return second >= 0x80 && second <= 0xBF;
  }
}

/// Bytes of a sequence with that first byte; 0 if none begins so.
std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  const unsigned char* data = octets(bytes);
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = sequence_length(data[i]);
    if (length == 0 || length > bytes.size() - i) return false;
    if (length > 1 && !second_byte_fits(data[i], data[i + 1])) return false;
    for (std::size_t k = 2; k < length; ++k) {
      if ((data[i + k] & 0xC0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

std::string base64_encode(std::string_view bytes) {
  std::string text;
  // OpenSSL counts in int; a multiple of 3 keeps the pieces free of padding.
  constexpr std::size_t kPiece = 3 << 20;
  for (std::size_t i = 0; i < bytes.size(); i += kPiece) {
    const std::string_view piece = bytes.substr(i, kPiece);
    std::string encoded(4 * ((piece.size() + 2) / 3) + 1, '\0');  // OpenSSL writes a final NUL
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()), octets(piece),
                    static_cast<int>(piece.size()));
    text.append(encoded, 0, encoded.size() - 1);
  }
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), octets(text),
                                     static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(bytes.size() - padding);
  // OpenSSL forgives blanks and stray padding; writing it again shows them.
  if (base64_encode(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace kernelsmith::detail
