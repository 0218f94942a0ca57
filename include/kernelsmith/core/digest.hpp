// Content addresses. They use SHA-256 because candidates are adversaries, and a verdict belongs to exact
// bytes.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith {

/// A SHA-256 digest. A value.
struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  /// 64 lower-case hexadecimal digits.
  std::string hex() const;
  static std::optional<Digest> from_hex(std::string_view text);

  friend auto operator<=>(const Digest&, const Digest&) = default;
};

/// The digest of `bytes`.
Digest digest_of(std::string_view bytes);

/// Digests a sequence of fields without ambiguity: every field is preceded by its length.
class DigestBuilder {
 public:
  DigestBuilder& add(std::string_view field);
  DigestBuilder& add(std::uint64_t number);
  Digest finish() const;

 private:
  std::string buffer_;
};

}  // namespace kernelsmith

template <>
struct std::hash<kernelsmith::Digest> {
  std::size_t operator()(const kernelsmith::Digest& digest) const noexcept;
};
