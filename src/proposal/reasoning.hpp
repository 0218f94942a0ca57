// Removes a model's reasoning before its answer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kernelsmith::detail {

/// The reply without its reasoning, which is:
/// - a pair of tags that begins a line outside fenced code, `<name>…</name>` or `[name]…[/name]` in any case,
///   if the name speaks of thinking, thoughts or reasoning, or if it does not speak of an answer and a
///   program follows the pair;
/// - the text before the closing tag of such thoughts, if the server kept back the opening tag;
/// - messages between channel markers (`<|channel|>analysis<|message|>…<|end|>`), except the final one.
/// Empty if thoughts are not closed: the reply then ended while the model was still thinking.
/// `holds_program` says whether a part of the reply can be the answer.
std::optional<std::string> without_reasoning(std::string_view reply,
                                             const std::function<bool(std::string_view)>& holds_program);

}  // namespace kernelsmith::detail
