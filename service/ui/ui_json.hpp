// How the live page's server writes JSON: one line of ASCII, with what is no UTF-8 replaced, because sources
// and diagnostics are a candidate's bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/metrics.hpp>

namespace kernelsmith::ui {

using Json = nlohmann::ordered_json;

/// Numbers that are not finite become null.
std::string one_line(const Json& value);

/// `{median, low, high, samples, unit}`.
Json json_of(const Measurement& value);
Json json_of(const std::optional<Measurement>& value);
Json json_of(const Error& error);

/// A text, at most `most` bytes of it: `{text, left_out}`, where `left_out` counts the bytes behind them.
Json cut_text(std::string_view text, std::size_t most);

}  // namespace kernelsmith::ui
