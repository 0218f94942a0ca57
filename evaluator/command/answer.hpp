// The answer of a task's command.
#pragma once

#include <string_view>

#include <kernelsmith/core/metrics.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith {

/// Parses the metrics in `text`, a JSON object of finite numbers: `fitness` and any features. Error:
/// bad_input.
Result<Metrics> parse_answer(std::string_view text);

}  // namespace kernelsmith
