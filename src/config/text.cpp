#include <limits>

#include <openssl/evp.h>

#include <kernelsmith/config/text.hpp>
#include <kernelsmith/core/escape.hpp>

namespace kernelsmith::detail {
namespace {

const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (const std::size_t length = bytes.empty() ? 0 : utf8_length(bytes)) bytes.remove_prefix(length);
  return bytes.empty();
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
  // OpenSSL accepts blanks and stray padding; encoding again detects them.
  if (base64_encode(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace kernelsmith::detail
