// Bytes and text: UTF-8 and base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith::detail {

/// Whether `bytes` are well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above
/// U+10FFFF.
bool is_utf8(std::string_view bytes);

/// Encodes as in RFC 4648, section 4, with padding.
std::string base64_encode(std::string_view bytes);
/// The bytes for which base64_encode() returns `text`; empty if there are none.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace kernelsmith::detail
