// AsWritten: the binary of backends that compile nothing.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <kernelsmith/core/escape.hpp>
#include <kernelsmith/core/source.hpp>
#include <kernelsmith/evaluator/backend.hpp>

namespace kernelsmith {

/// A candidate that is run as it stands.
struct AsWritten final : Binary {
  explicit AsWritten(Source files) : source(std::move(files)) {}
  Source source;
};

/// The end of a text, with control bytes escaped. A character that the cut splits appears as escaped bytes.
inline std::string tail_of(const std::string& text, std::size_t bytes) {
  return escape_controls(std::string_view(text).substr(text.size() - std::min(text.size(), bytes)));
}

}  // namespace kernelsmith
