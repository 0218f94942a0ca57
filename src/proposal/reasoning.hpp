// What a model thought aloud before its answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith::detail {

/// The reply without its reasoning: blocks <think>…</think> (also <thinking>, <reasoning>) that begin a line
/// outside fenced code, and what stands before a closing tag whose opening one the server kept. Nothing where
/// a block is not closed: the reply ended while the model was still thinking.
std::optional<std::string> without_reasoning(std::string_view reply);

}  // namespace kernelsmith::detail
