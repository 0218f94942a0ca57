// Reads servers' JSON leniently, because gateways add and drop keys, but never trusts it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith::llm {

using Json = nlohmann::json;

/// Half a surrogate pair is read as U+FFFD. Empty for broken syntax, bytes that are not UTF-8 and for more
/// than a reply can have: nesting deeper than 64 levels, 2,000,000 values.
std::optional<Json> parse_json(std::string_view text);

/// The member, or null if `object` is not an object or lacks it.
const Json& member(const Json& object, const char* key);

/// The member `error`; null if it is empty, as from servers that always send the key.
/// Stream.AnErrorThatSaysNothingIsNone
const Json& error_in(const Json& document);

/// The error object of a list, or its only object, because gateways wrap either in a list; other documents
/// are returned unchanged. Complaint.AReplyWithinAListIsTaken
const Json& out_of_list(const Json& document);

/// The string at `key`; empty if there is none.
std::string text_at(const Json& object, const char* key);

/// A server's report of a call's tokens, key by key. Anything except a count is empty.
struct TokenCounts {
  std::optional<std::uint64_t> input, cached, cache_write, output, reasoning;
};

/// The number of tokens at `key`: a plausible whole number, perhaps written as 10.0. Anything else counts as
/// missing, because 0 would make the call free. Decode.UsageThatIsNoCountIsNotTold
std::optional<std::uint64_t> tokens_at(const Json& object, const char* key);

/// Returns empty if input or output was not reported; a prompt has tokens, so an input of 0 is no count.
/// Parts are never more than the whole. Decode.PartsOfTheUsageAreNeverMoreThanTheWhole
std::optional<Usage> usage_from(const TokenCounts& counts);

/// Adds a list of {token, logprob, id?}, as OpenAI's protocols and llama.cpp write it. Other forms are
/// skipped.
void add_logprobs(const Json& list, TokenTrace& trace);

/// Adds a list of whole numbers.
void add_ids(const Json& list, std::vector<std::uint64_t>& ids);

/// Replaces everything except printable ASCII in `bytes` by blanks, for text that is not UTF-8. A key has no
/// blanks, so it can still be found.
std::string printable(std::string_view bytes);

/// A failure that a retry does not fix: the same request gets the same answer.
CallFailure lasting(ErrorCode code, std::string message, std::string hint = {});

/// A transient bad_reply: "the server's answer WHAT".
CallFailure bad_reply(std::string what);

/// The failure for a server's error in any form; `status` is 0 if it came within a stream or a 200. The
/// server's text is quoted unchanged: call redacted() before showing it. `asked`: the pause that its headers
/// ask for.
CallFailure failure_of(const Json& answer, int status, std::optional<std::chrono::milliseconds> asked = {});

/// The failure for an answer that is not a reply: its error, else a bad_reply with WHAT and its beginning.
CallFailure no_reply(const Json& answer, const std::string& what);

/// The same for a text: the failure that its words identify, else `otherwise`, which quotes the text.
CallFailure no_reply(std::string_view text, const CallFailure& otherwise);

/// The server aborted the reply, so it is unusable, but a retry may succeed.
CallFailure broken_off(const std::string& reason);

/// The same if the finish reason is one that only servers use, such as "abort"; else empty.
/// BrokenOff.AReasonOfTheServersIsAFailure
std::optional<CallFailure> broken_off_by(const std::string& reason);

}  // namespace kernelsmith::llm
