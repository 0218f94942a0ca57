// Reads the JSON of servers. Accepts unknown and missing keys, because gateways add and drop keys, but does
// not trust any value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith::llm {

using Json = nlohmann::json;

/// Reads half a surrogate pair as U+FFFD. Returns empty for broken syntax, for bytes that are not UTF-8, for
/// nesting deeper than 64 levels, and for more than 2,000,000 values.
std::optional<Json> parse_json(std::string_view text);

/// The member, or null if `object` is not an object or lacks it.
const Json& member(const Json& object, const char* key);

/// The member `error`; null if it is empty, because some servers always send the key.
/// Stream.AnErrorThatSaysNothingIsNone
const Json& error_in(const Json& document);

/// The error object of a list, or the only object of a list, because gateways wrap either in a list. Returns
/// other documents unchanged. Complaint.AReplyWithinAListIsTaken
const Json& out_of_list(const Json& document);

/// The string at `key`; empty if there is none.
std::string text_at(const Json& object, const char* key);

/// The counts of a call's tokens that a server reports. A value that is not a count is left empty.
struct TokenCounts {
  std::optional<std::uint64_t> input, cached, cache_write, output, reasoning;
};

/// The number of tokens at `key`: a plausible whole number, perhaps written as 10.0. Anything else counts as
/// missing, because 0 would make the call free. Decode.UsageThatIsNoCountIsNotTold
std::optional<std::uint64_t> tokens_at(const Json& object, const char* key);

/// Returns empty if input or output was not reported. An input of 0 counts as not reported, because every
/// prompt has tokens. Limits each part to the whole. Decode.PartsOfTheUsageAreNeverMoreThanTheWhole
std::optional<Usage> usage_from(const TokenCounts& counts);

/// Adds a list of {token, logprob, id?}, as OpenAI's protocols and llama.cpp write it. Skips other forms.
void add_logprobs(const Json& list, TokenTrace& trace);

/// Adds a list of whole numbers.
void add_ids(const Json& list, std::vector<std::uint64_t>& ids);

/// Replaces everything except printable ASCII by blanks; used for text that is not UTF-8. An API key can
/// still be found in the result, because keys consist of printable ASCII.
std::string printable(std::string_view bytes);

/// A failure that a retry does not fix: the same request gets the same answer.
CallFailure lasting(ErrorCode code, std::string message, std::string hint = {});

/// A transient failure `bad_reply` with the message "the server's answer WHAT".
CallFailure bad_reply(std::string what);

/// The failure for a server's error in any form; `status` is 0 if it came within a stream or a 200. The
/// server's text is quoted unchanged: call redacted() before showing it. `asked` is the pause that its
/// headers ask for.
CallFailure failure_of(const Json& answer, int status, std::optional<std::chrono::milliseconds> asked = {});

/// The failure for an answer that is not a reply: the answer's own error, else a bad_reply with WHAT and the
/// beginning of the answer.
CallFailure no_reply(const Json& answer, const std::string& what);

/// The failure for an answer that is a text: the failure that its words identify, else `otherwise`, which
/// quotes the text.
CallFailure no_reply(std::string_view text, const CallFailure& otherwise);

/// The failure for a reply that the server aborted. The reply is unusable, but a retry may succeed.
CallFailure broken_off(const std::string& reason);

/// The failure of broken_off() if only servers use the finish reason, such as "abort"; else empty.
/// BrokenOff.AReasonOfTheServersIsAFailure
std::optional<CallFailure> broken_off_by(const std::string& reason);

}  // namespace kernelsmith::llm
